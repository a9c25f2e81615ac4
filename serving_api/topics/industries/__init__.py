"""Valuation of industries."""
