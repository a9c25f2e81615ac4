"""Evidence: the stored values that a text may speak of, and whether each number of a text is one of them."""
