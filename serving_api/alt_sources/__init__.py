"""Alternative sources: data that no table stores, and whether each source is available."""
