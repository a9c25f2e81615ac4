"""What the strategies bought day by day, what became of it, and the signals and systems of one stock."""
