"""Chart patterns: the meaning of their columns, and the returns after them."""
