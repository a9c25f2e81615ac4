"""A stock among those of its industry."""
