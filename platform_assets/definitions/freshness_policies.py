"""The declared freshness of a table as Dagster's policy: when the UI calls an asset degraded or overdue.

Dagster measures from the last materialization and knows no trade calendar, so the window is the longest time
that may pass while the declaration still holds: for trade dates, over the longest holiday that is known.
"""

from datetime import date, timedelta
from functools import cache

import dagster as dg

from core.calendar import FIRST_PARTITION, shipped_calendar
from core.declaration.rules import Freshness

_WEEK = 5


def freshness_policy(rule: Freshness) -> dg.FreshnessPolicy:
    """Overdue after the longest time that the rule allows; degraded after that of a week without holidays."""
    if rule.kind != "trading":
        # Of days, and of days after a period's end: each load confirms what is there.
        return dg.FreshnessPolicy.time_window(fail_window=timedelta(days=rule.max_lag + 1))
    dates = rule.max_lag + 1
    ordinary = timedelta(days=dates + 2 * -(-dates // _WEEK))
    longest = timedelta(days=_longest(dates))
    warn = ordinary if ordinary < longest else None
    return dg.FreshnessPolicy.time_window(fail_window=longest, warn_window=warn)


@cache
def _longest(dates: int) -> int:
    """Days from a trade date to the one that many trade dates later, at most."""
    calendar = shipped_calendar()
    days = [date.fromisoformat(day) for day in calendar.between(FIRST_PARTITION, calendar.horizon)]
    return max((later - day).days for day, later in zip(days, days[dates:], strict=False))
