"""Totals of the whole market from one pass over its quotes. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.calendar import TradeCalendar
from platform_assets.compute.day_limits import BEYOND, NO_LIMIT
from serving_api.live.quotes import limits
from serving_api.live.scan import Traded

_EPS = 1e-6


@dataclass(frozen=True)
class Mover:
    """`change_pct` is None for a stock that does not trade. `at_limit`: 'up', 'down', 'up_open' (touched,
    not held), 'no_limit' (a day without limits) or ''."""

    change_pct: float | None
    at_limit: str = ""


@dataclass(frozen=True)
class Counts:
    """Counts of stocks; `broken`: touched, not held their limit-up; 0 when the source has no highs."""

    up: int
    down: int
    flat: int
    limit_up: int
    limit_down: int
    suspended: int
    total: int
    broken: int


def of_scan(rows: Iterable[Traded], day: str, calendar: TradeCalendar) -> list[Mover]:
    return [_of_quote(row, day, calendar) for row in rows]


def _of_quote(row: Traded, day: str, calendar: TradeCalendar) -> Mover:
    if row.suspended or row.price is None or not row.last_close:
        return Mover(None)
    return Mover(
        (row.price / row.last_close - 1) * 100, _at_limit(row, row.price, row.last_close, day, calendar)
    )


def _at_limit(row: Traded, price: float, last_close: float, day: str, calendar: TradeCalendar) -> str:
    up, down = limits(row.listed, last_close, day, calendar)
    if up is None or down is None:
        return NO_LIMIT
    high = price if row.high is None else max(row.high, price)
    if high > up + BEYOND or price < down - BEYOND:
        return NO_LIMIT
    if price >= up - _EPS:
        return "up"
    if price <= down + _EPS:
        return "down"
    return "up_open" if high >= up - _EPS else ""


def of_wide(rows: Iterable[dict[str, Any]]) -> list[Mover]:
    return [
        Mover(None if row["is_suspended"] else row["change_pct"], row["limit_status"] or "") for row in rows
    ]


def count(movers: Sequence[Mover]) -> Counts:
    moved = [mover.change_pct for mover in movers if mover.change_pct is not None]
    at = [mover.at_limit for mover in movers if mover.change_pct is not None]
    return Counts(
        up=sum(change > _EPS for change in moved),
        down=sum(change < -_EPS for change in moved),
        flat=sum(abs(change) <= _EPS for change in moved),
        limit_up=at.count("up"),
        limit_down=at.count("down"),
        suspended=len(movers) - len(moved),
        total=len(movers),
        broken=at.count("up_open"),
    )


def market_stat(rows: Iterable[Traded], day: str, calendar: TradeCalendar) -> dict[str, Any]:
    """MarketStat. Before the first trade of a day every share counts as suspended."""
    kinds = ("up", "down", "neutral", "suspended", "total", "limit_up", "limit_down")
    stat: dict[str, Any] = {f"{kind}_count": 0 for kind in kinds}
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
            at = _at_limit(row, row.price, row.last_close, day, calendar)
            stat["limit_up_count"] += at == "up"
            stat["limit_down_count"] += at == "down"
    return {
        **stat,
        "total_amount": round(amount, 2),
        "total_volume": round(volume),
        "total_market_cap": round(cap, 2),
    }
