"""Broad indices and industry indices: valuation, weights, members."""
