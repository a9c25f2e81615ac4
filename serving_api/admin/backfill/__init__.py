"""Past trade dates loaded on request."""
