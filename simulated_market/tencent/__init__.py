"""Responder of the quote site."""
