"""Totals of the whole market from one pass over its quotes. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from resources.calendar import TradeCalendar
from serving_api.datamgr_live.frames import Row, number, positive
from serving_api.datamgr_live.quotes import limits
from serving_api.datamgr_live.symbols import Listed

_EPS = 1e-6
WAN = 10_000.0


@dataclass(frozen=True)
class Traded:
    """One A share at this moment: CNY, shares, cap in 10k CNY. No price = it does not trade today."""

    listed: Listed
    price: float | None
    last_close: float | None
    volume: float
    amount: float
    market_cap: float | None

    @property
    def suspended(self) -> bool:
        return not self.price or self.volume <= 0


def from_terminal(row: Row, listed: Listed) -> Traded:
    price, last_close = positive(row["price"]), positive(row["last_close"])
    known = price or last_close
    cap = known * listed.total_shares / WAN if known and listed.total_shares else None
    live = None if row["suspended"] or row["unknown"] else price
    return Traded(listed, live, last_close, number(row["volume"]) or 0.0, number(row["amount"]) or 0.0, cap)


def from_ranking(row: Row, listed: Listed) -> Traded:
    price, moved = positive(row["price"]), number(row["change_amt"])
    last_close = round(price - moved, 4) if price and moved is not None else None
    return Traded(
        listed,
        price,
        last_close,
        number(row["volume"]) or 0.0,
        number(row["amount"]) or 0.0,
        number(row["total_market_cap"]),
    )


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
