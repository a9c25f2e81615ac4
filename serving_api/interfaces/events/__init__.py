"""Interfaces over dated events: seats of the billboard, releases of locked shares."""
