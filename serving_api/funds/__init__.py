"""Funds on the exchanges: REITs and the bars of ETFs."""
