"""Bounds of the chat; all are ours but the history's, which the specification gives."""

HISTORY = 16
"""Turns of the history that are used, the newest ones."""
MESSAGE_CHARS = 4000
TURN_CHARS = 8000
ROUNDS = 5
"""Turns of a model within one question; in the last one it has no tools."""
CALLS = 10
"""Tools that one question may call."""
COMPARED = 10
TITLE_CHARS = 20
RECEIPTS_PER_USER = 50
RECEIPT_DAYS = 7
VALUATION_S = 30.0
"""A quick valuation answers within it."""
