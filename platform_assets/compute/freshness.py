"""When stored data is old: the three cutoff rules and the verdict. Pure; dates are ISO text."""

from core.days import moved
from core.declaration.rules import Freshness
from core.declaration.scope import Calendar
from core.errors import DeclarationError
from core.report_periods import latest_ended

CONFIRMED = "confirmed_at"
"""A rule's column that is no column: the date of the table's last successful batch."""


def cutoff(rule: Freshness, today: str, calendar: Calendar) -> str:
    """The oldest date that still counts as fresh on `today`.

    trading: the newest trade date on or before today, minus `max_lag` trade dates (no clock: today counts
    from midnight on). calendar: today minus `max_lag` days. period: the newest quarter end whose reports
    had `max_lag` days to arrive. Raises what the calendar raises beyond its horizon.
    """
    if rule.kind == "trading":
        return calendar.offset(calendar.on_or_before(today), -rule.max_lag)
    if rule.kind == "calendar":
        return moved(today, -rule.max_lag)
    if rule.kind == "period":
        return latest_ended(moved(today, 1 - rule.max_lag))
    raise DeclarationError(f"freshness: {rule.kind!r} is none of trading, calendar, period")


def is_stale(latest: str | None, limit: str) -> bool:
    """Nothing stored is as old as can be."""
    return latest is None or latest < limit
