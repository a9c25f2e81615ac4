"""Backtests."""
