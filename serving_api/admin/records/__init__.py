"""What was synchronised and what failed a check."""
