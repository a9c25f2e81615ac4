"""Where a stored value came from."""
