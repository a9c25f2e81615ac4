"""Figures of a stock for counting: its change, and whether it is at a limit; from a live scan or from the
wide table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.calendar import TradeCalendar
from serving_api.live.admin_reads.quotes import limits
from serving_api.live.scan import Traded

_EPS = 1e-6


@dataclass(frozen=True)
class Mover:
    """`change_pct` is None for a stock that does not trade. `at_limit`: 'up', 'down', 'up_open' (touched,
    not held) or ''."""

    change_pct: float | None
    at_limit: str = ""


@dataclass(frozen=True)
class Counts:
    """Counts of stocks; `broken` touched their limit-up without holding it, None when the source has no
    highs."""

    up: int
    down: int
    flat: int
    limit_up: int
    limit_down: int
    suspended: int
    total: int
    broken: int | None


def of_scan(rows: Iterable[Traded], day: str, calendar: TradeCalendar) -> list[Mover]:
    return [_of_quote(row, day, calendar) for row in rows]


def _of_quote(row: Traded, day: str, calendar: TradeCalendar) -> Mover:
    if row.suspended or row.price is None or not row.last_close:
        return Mover(None)
    up, down = limits(row.listed, row.last_close, day, calendar)
    at = ""
    if up is not None and row.price >= up - _EPS:
        at = "up"
    elif down is not None and row.price <= down + _EPS:
        at = "down"
    elif up is not None and row.high is not None and row.high >= up - _EPS:
        at = "up_open"
    return Mover((row.price / row.last_close - 1) * 100, at)


def of_wide(rows: Iterable[dict[str, Any]]) -> list[Mover]:
    return [
        Mover(None if row["is_suspended"] else row["change_pct"], row["limit_status"] or "") for row in rows
    ]


def count(movers: Sequence[Mover], *, with_broken: bool) -> Counts:
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
        broken=at.count("up_open") if with_broken else None,
    )
