"""Responder of the portal's quote hosts."""
