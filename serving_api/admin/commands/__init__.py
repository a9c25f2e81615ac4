"""What the platform was asked to do."""
