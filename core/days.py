"""Arithmetic of calendar days as ISO text. Pure."""

from datetime import date, timedelta

_SESSION_END = "15:00"


def moved(day: str, days: int) -> str:
    """The day so many calendar days later (earlier where `days` is negative)."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def monday_of(day: str) -> str:
    """The Monday of the day's week."""
    return moved(day, -date.fromisoformat(day).weekday())


def is_closed(last: str, moment: str) -> bool:
    """Whether a period is over at a moment (`YYYY-MM-DD HH:MM…`): the session of its `last` trade date is."""
    return last < moment[:10] or (last == moment[:10] and moment[11:16] >= _SESSION_END)
