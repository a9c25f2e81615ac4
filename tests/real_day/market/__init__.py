"""The sample market beside the real one: the same figures of both, with plots, on one page."""
