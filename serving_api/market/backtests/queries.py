"""SQL of the backtests. Every function takes a Session first."""

from typing import NamedTuple

from platform_assets.compute.backtests.days import Event
from platform_assets.compute.exright import PRICE_EVENTS, TERMS
from platform_assets.datasets.exright import ExRight
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.stock_master import StockMaster
from resources.warehouse.stored import stored
from serving_api.db.sessions import Session

KLINE = stored("fusion_kline_daily", KlineDaily)
EXRIGHT = stored("ref_exright", ExRight)
MASTER = stored("fusion_stock_master", StockMaster)

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
    rows = session.rows(
        KLINE, KLINE.c.code == code, columns=Row._fields, order=[KLINE.c.date.desc()], limit=count
    )
    return list(map(Row._make, reversed(rows)))


def events(session: Session, code: str, since: str) -> list[Event]:
    """Dividends, bonus shares, rights, splits and consolidations from a date on."""
    c = EXRIGHT.c
    of = [c.code == code, c.category.in_(PRICE_EVENTS), c.date >= since, c.held_back.is_(None)]
    rows = session.rows(EXRIGHT, *of, columns=_EVENT, order=[c.date])
    return [Event(day, *(float(value or 0.0) for value in amounts)) for day, *amounts in rows]
