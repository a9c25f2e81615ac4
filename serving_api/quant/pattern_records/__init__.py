"""Chart patterns: what their columns say, and what followed them."""
