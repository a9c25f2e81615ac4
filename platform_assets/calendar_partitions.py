"""The trade-date partitions: one per trade date of the shipped calendar, none beyond its horizon."""

from datetime import date, datetime, timedelta
from functools import cache

import dagster as dg

from resources.calendar import FIRST_PARTITION, shipped_calendar


@cache
def trade_dates() -> dg.TimeWindowPartitionsDefinition:
    """Week-day windows without the holidays, so that keys equal the exchange's trade dates exactly."""
    calendar = shipped_calendar()
    first, last = date.fromisoformat(FIRST_PARTITION), date.fromisoformat(calendar.horizon)
    closed = []
    day = first
    while day <= last:
        if day.weekday() < 5 and not calendar.is_trade_date(day.isoformat()):
            closed.append(datetime(day.year, day.month, day.day))
        day += timedelta(days=1)
    return dg.TimeWindowPartitionsDefinition(
        start=FIRST_PARTITION,
        # Beyond the horizon no day is a partition; without an end every week day would become one.
        end=(last + timedelta(days=1)).isoformat(),
        fmt="%Y-%m-%d",
        cron_schedule="0 0 * * 1-5",
        timezone="Asia/Shanghai",
        # Today's key must exist during the day, not from midnight on.
        end_offset=1,
        exclusions=closed,
    )
