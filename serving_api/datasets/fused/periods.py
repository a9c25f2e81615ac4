"""Week, month, quarter and year bars made from daily ones. Pure."""

from collections.abc import Iterable
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from core.calendar import TradeCalendar
from serving_api.stocks.bars import Bar, adjusted

Bars = list[dict[str, Any]]


def period_of(day: str, period: str) -> tuple[int, int]:
    """The key that the bars of one period share. A week is the ISO week."""
    when = date.fromisoformat(day)
    match period:
        case "week":
            year, week, _ = when.isocalendar()
            return year, week
        case "month":
            return when.year, when.month
        case "quarter":
            return when.year, (when.month - 1) // 3
        case _:
            return when.year, 0


def last_day(day: str, period: str) -> str:
    """The last calendar day of the period that contains `day`."""
    when = date.fromisoformat(day)
    match period:
        case "week":
            return (when + timedelta(days=6 - when.weekday())).isoformat()
        case "month":
            month = when.month
        case "quarter":
            month = (when.month - 1) // 3 * 3 + 3
        case _:
            month = 12
    following = date(when.year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).isoformat()


def resampled(
    bars: Iterable[Bar], qualities: dict[str, str], period: str, adjust: str, calendar: TradeCalendar
) -> Bars:
    """PeriodBars of adjusted daily bars, oldest first. A bar has the last trade date of its period (as
    stored ones do), and quality 'warning' when one of its days has."""
    daily = adjusted(list(bars), adjust)
    made: Bars = []
    for _, group in groupby(daily, key=lambda bar: period_of(bar["date"], period)):
        days = list(group)
        marks = {qualities.get(day["date"], "ok") for day in days}
        made.append(
            {
                "period": period,
                "date": calendar.between(days[-1]["date"], last_day(days[-1]["date"], period))[-1],
                "open": days[0]["open"],
                "close": days[-1]["close"],
                "high": max((day["high"] for day in days if day["high"] is not None), default=None),
                "low": min((day["low"] for day in days if day["low"] is not None), default=None),
                "volume": sum(day["volume"] or 0 for day in days),
                "amount": round(sum(day["amount"] or 0.0 for day in days), 2),
                "last_date": days[-1]["date"],
                "bar_count": len(days),
                "quality": "warning" if "warning" in marks else "ok",
            }
        )
    return made
