"""The closed days of the simulated exchanges, and when those of a year are announced."""

from datetime import date, datetime, timedelta

from core.calendar import shipped_calendar

YEARS_AHEAD = 4
"""Years after the announced one that lists of closed days name already."""
_ANNOUNCED = (11, 4)
"""Month and day on which the arrangement of the next year comes."""


def announced_year(now: datetime) -> int:
    """The last year whose arrangement is out."""
    return now.year + ((now.month, now.day) >= _ANNOUNCED)


def closed_days(year: int) -> list[str]:
    """Weekdays of a year without a session, ISO, ascending."""
    open_days = set(shipped_calendar().between(f"{year}-01-01", f"{year}-12-31"))
    first = date(year, 1, 1)
    days = (first + timedelta(days=step) for step in range((date(year + 1, 1, 1) - first).days))
    return [day.isoformat() for day in days if day.weekday() < 5 and day.isoformat() not in open_days]
