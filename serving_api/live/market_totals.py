"""Totals of the whole market from one pass over its quotes. Pure."""

from collections.abc import Iterable
from typing import Any

from core.calendar import TradeCalendar
from serving_api.live.admin_reads.quotes import limits
from serving_api.live.scan import Traded

_EPS = 1e-6


def market_stat(rows: Iterable[Traded], day: str, calendar: TradeCalendar) -> dict[str, Any]:
    """MarketStat. Before the first trade of a day every share counts as suspended."""
    stat: dict[str, Any] = dict.fromkeys(
        (
            "up_count",
            "down_count",
            "neutral_count",
            "suspended_count",
            "total_count",
            "limit_up_count",
            "limit_down_count",
        ),
        0,
    )
    amount = volume = cap = 0.0
    for row in rows:
        stat["total_count"] += 1
        cap += row.market_cap or 0.0
        if row.suspended or row.price is None:
            stat["suspended_count"] += 1
            continue
        amount, volume = amount + row.amount, volume + row.volume
        moved = row.price - (row.last_close or row.price)
        stat["up_count" if moved > _EPS else "down_count" if moved < -_EPS else "neutral_count"] += 1
        if row.last_close:
            up, down = limits(row.listed, row.last_close, day, calendar)
            stat["limit_up_count"] += up is not None and row.price >= up - _EPS
            stat["limit_down_count"] += down is not None and row.price <= down + _EPS
    return {
        **stat,
        "total_amount": round(amount, 2),
        "total_volume": round(volume),
        "total_market_cap": round(cap, 2),
    }
