"""Volume-price analysis, trend strength and relative strength: small enough to be computed when asked."""
