"""Staged time series shortened on request."""
