"""Picks of the strategies by day, their outcomes, and the signals and systems of one stock."""
