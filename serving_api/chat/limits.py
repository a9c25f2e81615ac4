"""Limits of the chat; all are our choice except that of the history, which the specification sets."""

HISTORY = 16
"""Newest turns of the history that are used."""
MESSAGE_CHARS = 4000
TURN_CHARS = 8000
ROUNDS = 5
"""Turns of a model within one question; in the last one it has no tools."""
ANSWER_S = 60.0
"""Seconds for all that models say to one question; then the rules answer."""
SIGN_OF_LIFE_S = 8.0
"""Seconds without anything new after which a stream says that the model is still at work."""
CALLS = 10
"""Tool calls per question."""
COMPARED = 10
TITLE_CHARS = 20
RECEIPTS_PER_USER = 50
RECEIPT_DAYS = 7
VALUATION_S = 30.0
"""Seconds for a quick valuation."""
