"""Outcomes of picks: scorecards of all sources, and the three built-in strategies."""
