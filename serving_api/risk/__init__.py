"""Risks of companies: pledged shares, goodwill, the portal's scores."""
