"""Week, month, quarter and year bars made from daily ones. Pure."""

from collections.abc import Iterable
from datetime import date
from itertools import groupby
from typing import Any

from serving_api.stocks.bars import Bar, adjusted

Bars = list[dict[str, Any]]


def period_of(day: str, period: str) -> tuple[int, int]:
    """What bars of one period share. A week is the ISO week."""
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


def resampled(bars: Iterable[Bar], qualities: dict[str, str], period: str, adjust: str) -> Bars:
    """PeriodBars of adjusted daily bars, oldest first. A bar bears its last trade date, and 'warning' when
    one of its days does."""
    daily = adjusted(list(bars), adjust)
    made: Bars = []
    for _, group in groupby(daily, key=lambda bar: period_of(bar["date"], period)):
        days = list(group)
        marks = {qualities.get(day["date"], "ok") for day in days}
        made.append(
            {
                "period": period,
                "date": days[-1]["date"],
                "open": days[0]["open"],
                "close": days[-1]["close"],
                "high": max((day["high"] for day in days if day["high"] is not None), default=None),
                "low": min((day["low"] for day in days if day["low"] is not None), default=None),
                "volume": sum(day["volume"] or 0 for day in days),
                "amount": round(sum(day["amount"] or 0.0 for day in days), 2),
                "bar_count": len(days),
                "quality": "warning" if "warning" in marks else "ok",
            }
        )
    return made
