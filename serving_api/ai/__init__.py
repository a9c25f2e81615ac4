"""What the platform does with language models."""
