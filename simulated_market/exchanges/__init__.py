"""Responders of the three exchanges' sites."""
