"""Responder of the finance portal's quote hosts."""
