"""The disclosure platform."""
