"""SQL of the stock reads. Every function takes a Session first and returns plain rows.

`as_of` is the bound instant, or None for the current rows.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from platform_assets.compute.pinyin import Reading, other_readings
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.quote_snapshot import QuoteSnapshot
from platform_assets.datasets.stock_master import StockMaster
from platform_assets.datasets.stock_wide import StockWide
from resources.warehouse.stored import ANY, stored
from serving_api.db.first_dates import first_date
from serving_api.db.rows import TRADED
from serving_api.db.sessions import Session
from serving_api.stocks.bars import Bar
from serving_api.stocks.directory import Listing

KLINE = stored("fusion_kline_daily", KlineDaily)
MASTER = stored("fusion_stock_master", StockMaster)
INDUSTRY = stored("fusion_stock_industry")
WIDE = stored("fusion_stock_wide", StockWide)
QUOTE = stored("fusion_quote_snapshot", QuoteSnapshot)
VALUATION = stored("fusion_valuation")
MONEYFLOW = stored("fusion_fund_flow")
FINANCE = stored("fusion_finance_indicator")

FACTS: Mapping[str, str] = {
    "master": MASTER, "wide": WIDE, "industry": INDUSTRY, "quote": QUOTE, "valuation": VALUATION,
    "finance": FINANCE,
}  # fmt: skip
_DATES: Mapping[str, str] = {
    WIDE: "trade_date",
    QUOTE: "trade_date",
    VALUATION: "date",
    FINANCE: "report_period",
}
AVAILABILITY: Mapping[str, str] = {
    "kline": KLINE, "valuation": VALUATION, "moneyflow": MONEYFLOW, "quote": QUOTE, "finance": FINANCE,
}  # fmt: skip

_BAR_OF = partial(tuple.__new__, Bar)
_TRADED = ("date", "open", "close", "high", "low", "volume", "amount")
_ADJUSTED = (*_TRADED, "adj_factor")
_OF_CODE = KLINE.c.code == sa.bindparam("code")
_NEWEST_FIRST, _OLDEST_FIRST = (KLINE.c.date.desc(),), (KLINE.c.date,)
"""Built once: charts are read most."""
SHOWN = (
    QuoteSnapshot.code, QuoteSnapshot.name, QuoteSnapshot.price.or_null(), QuoteSnapshot.open,
    QuoteSnapshot.high, QuoteSnapshot.low, QuoteSnapshot.last_close.label("prevClose"),
    QuoteSnapshot.change_pct.label("changePercent"), QuoteSnapshot.volume, QuoteSnapshot.amount,
    QuoteSnapshot.turnover_pct.label("turnoverRate"),
)  # fmt: skip
"""The columns of a quote."""


def bars(session: Session, code: str, count: int, as_of: str | None, adjust: str) -> list[Bar]:
    """The newest `count` bars, oldest first, with their factors unless `adjust` is `none`. A suspended day is
    a stored row but not a bar of a chart."""
    is_adjusted = adjust != "none"
    rows = session.rows(
        KLINE, _OF_CODE, TRADED, columns=_ADJUSTED if is_adjusted else _TRADED, as_of=as_of,
        order=_NEWEST_FIRST, limit=count, values={"code": code},
    )  # fmt: skip
    return list(map(_BAR_OF if is_adjusted else _traded_bar, reversed(rows)))


def _traded_bar(row: tuple[Any, ...]) -> Bar:
    return _BAR_OF((*row, None))


def bars_and_first(
    session: Session, code: str, count: int, as_of: str | None, adjust: str
) -> tuple[list[Bar], tuple[str | None]]:
    """(`bars`, (date of the first stored row,))."""
    first = session.first(KLINE, "date", _OF_CODE, order=_OLDEST_FIRST, values={"code": code})
    return bars(session, code, count, as_of, adjust), (first,)


def bars_of_codes(
    session: Session, codes: Sequence[str], count: int, as_of: str | None, adjust: str
) -> dict[str, list[Bar]]:
    return {code: bars(session, code, count, as_of, adjust) for code in codes}


def bars_of_codes_and_first(
    session: Session, codes: Sequence[str], count: int, as_of: str | None, adjust: str
) -> tuple[dict[str, list[Bar]], tuple[str | None]]:
    """(`bars_of_codes`, (date of the first stored row of any code,))."""
    return bars_of_codes(session, codes, count, as_of, adjust), (first_date(session, KLINE),)


def listings(session: Session) -> list[Listing]:
    """Every security that is not delisted, with its industry."""
    industries = dict(session.rows(INDUSTRY, columns=("code", "industry")))
    status = MASTER.c.list_status
    rows = session.rows(
        MASTER,
        status.is_(None) | status.not_in(("D", "R")),
        columns=("code", "name", "market", "sec_type", "pinyin_initials", "pinyin_full"),
    )
    found = []
    for code, name, market, sec_type, initials, spelling in rows:
        usual = Reading((initials or "").lower(), (spelling or "").lower())
        others = tuple((one.initials, one.spelling) for one in other_readings(name or "", usual))
        own = (usual.initials, usual.spelling, industries.get(code))
        found.append(Listing(code, name or "", market, sec_type, *own, others))
    return found


def newest_row(
    session: Session, table: str, code: str, as_of: str | None, columns: Sequence[str] | None = None
) -> dict[str, Any]:
    """The newest row of a code, or the only one where the table has no dates; {} when there is none."""
    order = [ANY[_DATES[table]].desc()] if table in _DATES else []
    found = session.dicts(table, ANY.code == code, columns=columns, as_of=as_of, order=order, limit=1)
    return found[0] if found else {}


def facts(
    session: Session, code: str, as_of: str | None, columns: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, bool]]:
    """({kind: newest row of a code, of these columns as far as its table has them}, data availability)."""
    rows = {
        kind: newest_row(session, table, code, as_of, session.columns(table, columns))
        for kind, table in FACTS.items()
        if session.has(table)
    }
    return rows, availability(session, code, as_of)


def availability(session: Session, code: str, as_of: str | None) -> dict[str, bool]:
    """Whether a row of each kind exists."""
    of = ANY.code == code
    return {
        kind: session.first(table, "code", of, as_of=as_of) == code for kind, table in AVAILABILITY.items()
    }


def newest_quotes(session: Session, codes: Sequence[str]) -> list[dict[str, Any]]:
    """The newest stored quote of each code, in the order of `codes`; codes without one are left out."""
    columns, order = (*SHOWN, "quote_time", "trade_date"), [QUOTE.c.trade_date.desc()]
    return [
        row
        for code in codes
        for row in session.dicts(QUOTE, QUOTE.c.code == code, columns=columns, order=order, limit=1)
    ]
