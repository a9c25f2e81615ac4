"""The watch list and its import."""
