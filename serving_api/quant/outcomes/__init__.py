"""Outcomes of picks, for every answer that shows them."""
