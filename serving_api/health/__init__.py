"""Whether the service works, and with which settings."""
