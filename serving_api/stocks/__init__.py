"""Reads of single securities over the fused tables."""
