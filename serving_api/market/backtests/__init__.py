"""Backtests of one stock: the nine strategies and the trailing stop."""
