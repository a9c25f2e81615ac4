"""The day of a note that is written now, and which sources may replace it. Shared by writers and readers."""

from datetime import datetime

from core.declaration.scope import Calendar

RULES = "local_rule"
"""Source of a note that rules wrote; it never replaces one of a model or of a person."""
AI = "ai"
"""Source of a note that a model wrote, every number checked against the same evidence."""
STORED = "16:00"
"""By then the bars of the day are stored (`fusion_kline_sync` begins at 15:40)."""


def reviewed_session(now: datetime, calendar: Calendar) -> str:
    """The newest trade date whose bars are expected to be stored."""
    newest = calendar.on_or_before(now.date().isoformat())
    if newest == now.date().isoformat() and now.strftime("%H:%M") < STORED:
        return calendar.offset(newest, -1)
    return newest
