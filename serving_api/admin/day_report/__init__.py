"""What was loaded of a trade date, from which sources, and what was not and why."""
