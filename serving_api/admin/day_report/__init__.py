"""What of a trade date was loaded, from whom, and what was not and why."""
