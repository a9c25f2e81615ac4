"""Reads of the warehouse, table versions, and the caches that belong to them."""
