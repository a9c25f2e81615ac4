"""Notes of the day, written by rules from stored tables: every number in them is a stored value."""
