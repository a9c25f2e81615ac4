"""The leader score of the limit-ups and what became of them."""
