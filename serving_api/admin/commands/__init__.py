"""Commands that the platform was given."""
