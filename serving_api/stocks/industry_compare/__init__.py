"""A stock compared with the others of its industry."""
