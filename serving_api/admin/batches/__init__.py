"""What was written, by whom and from what."""
