"""Calls of the portal by subject: which requests make an answer, and over how many pages."""
