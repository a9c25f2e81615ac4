"""Mails that the platform sends: whether it may, what they look like, how they reach a server."""
