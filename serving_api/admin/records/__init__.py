"""Sync log and quality records."""
