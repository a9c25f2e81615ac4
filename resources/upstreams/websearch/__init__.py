"""Web search: untrusted texts for a query, never stored as market data."""
