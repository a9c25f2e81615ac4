"""The origin of a stored value."""
