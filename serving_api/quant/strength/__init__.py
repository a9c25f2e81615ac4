"""Volume-price analysis, trend strength and relative strength: quick enough to be computed per request."""
