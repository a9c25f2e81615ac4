"""SQL of the backtests. Every function takes a Session first."""

from typing import NamedTuple

from platform_assets.compute.backtests.days import Event
from platform_assets.compute.exright import PRICE_EVENTS, TERMS
from serving_api.db.sessions import Session

KLINE = "fusion_kline_daily"
EXRIGHT = "ref_exright"
MASTER = "fusion_stock_master"

_EVENT = ("date", *TERMS)


class Row(NamedTuple):
    """A stored daily bar, CNY and shares, unadjusted. `limit_status` None: its limits are not known."""

    date: str
    market: str | None
    open: float | None
    high: float | None
    low: float | None
    close: float | None
    volume: int | None
    last_close: float | None
    adj_factor: float | None
    limit_up: float | None
    limit_down: float | None
    limit_status: str | None
    is_suspended: bool | None


def bars(session: Session, code: str, count: int) -> list[Row]:
    """The newest rows of a code, oldest first, including suspended days."""
    rows = session.rows(KLINE, {"code": code}, columns=Row._fields, order="date DESC", limit=count)
    return list(map(Row._make, reversed(rows)))


def events(session: Session, code: str, since: str) -> list[Event]:
    """Dividends, bonus shares, rights, splits and consolidations from a date on."""
    of, kept = {"code": code, "category": PRICE_EVENTS, "date>=": since}, "held_back IS NULL"
    rows = session.rows(EXRIGHT, of, columns=_EVENT, where=kept, order="date")
    return [Event(day, *(float(value or 0.0) for value in amounts)) for day, *amounts in rows]
