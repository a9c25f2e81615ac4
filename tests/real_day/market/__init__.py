"""The sample market compared with the real one: the same figures of both, with plots, on one page."""
