"""Picks of the classic strategies."""
