"""Deletion of old rows of staged time series on request."""
