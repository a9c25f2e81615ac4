"""SQL of the stock reads. Every function takes a Session first and returns plain rows.

A table that is not declared yet has no rows. `as_of` is the bound instant, or None for the current rows.
"""

from collections.abc import Sequence
from typing import Any

from platform_assets.compute.pinyin import Reading, other_readings
from serving_api.db.sessions import Session
from serving_api.stocks.bars import Bar
from serving_api.stocks.directory import Listing

KLINE = "fusion_kline_daily"
MASTER = "fusion_stock_master"
INDUSTRY = "fusion_stock_industry"
WIDE = "fusion_stock_wide"
QUOTE = "fusion_quote_snapshot"
VALUATION = "fusion_valuation"
MONEYFLOW = "fusion_fund_flow"
FINANCE = "fusion_finance_indicator"

AVAILABILITY = {
    "kline": KLINE,
    "valuation": VALUATION,
    "moneyflow": MONEYFLOW,
    "quote": QUOTE,
    "finance": FINANCE,
}

_BAR_COLUMNS = ("date", "open", "close", "high", "low", "volume", "amount", "adj_factor")
_QUOTE_COLUMNS = (
    "code name price open high low last_close change_pct volume amount turnover_pct quote_time trade_date"
).split()


def bars(session: Session, code: str, count: int, as_of: str | None) -> list[Bar]:
    """The newest `count` bars, oldest first. A suspended day is a stored row but not a bar of a chart."""
    rows = session.rows(
        KLINE,
        columns=_BAR_COLUMNS,
        where="code=? AND (is_suspended IS NULL OR is_suspended=0)",
        values=(code,),
        as_of=as_of,
        order="date DESC",
        limit=count,
    )
    return list(map(Bar._make, reversed(rows)))


def bars_of_codes(
    session: Session, codes: Sequence[str], count: int, as_of: str | None
) -> dict[str, list[Bar]]:
    return {code: bars(session, code, count, as_of) for code in codes}


def listings(session: Session) -> list[Listing]:
    """Every security that is not delisted, with its industry."""
    industries = dict(session.rows(INDUSTRY, columns=("code", "industry")))
    rows = session.rows(
        MASTER,
        columns=("code", "name", "market", "sec_type", "pinyin_initials", "pinyin_full"),
        where="list_status IS NULL OR list_status<>'D'",
    )
    return [
        Listing(
            code=code,
            name=name or "",
            market=market,
            sec_type=sec_type,
            initials=(initials or "").lower(),
            spelling=(spelling or "").lower(),
            industry=industries.get(code),
            others=_others(name or "", (initials or "").lower(), (spelling or "").lower()),
        )
        for code, name, market, sec_type, initials, spelling in rows
    ]


def _others(name: str, initials: str, spelling: str) -> tuple[tuple[str, str], ...]:
    found = other_readings(name, Reading(initials, spelling))
    return tuple((one.initials, one.spelling) for one in found)


def newest_wide(session: Session, code: str, as_of: str | None) -> dict[str, Any]:
    """The newest wide row of a code; {} when there is none."""
    return _newest(session, WIDE, code, "trade_date", as_of)


def newest_quote(session: Session, code: str, as_of: str | None) -> dict[str, Any]:
    return _newest(session, QUOTE, code, "trade_date", as_of)


def newest_valuation(session: Session, code: str, as_of: str | None) -> dict[str, Any]:
    return _newest(session, VALUATION, code, "date", as_of)


def newest_finance(session: Session, code: str, as_of: str | None) -> dict[str, Any]:
    return _newest(session, FINANCE, code, "report_period", as_of)


def _newest(session: Session, table: str, code: str, date: str, as_of: str | None) -> dict[str, Any]:
    found = session.dicts(table, where="code=?", values=(code,), as_of=as_of, order=f"{date} DESC", limit=1)
    return found[0] if found else {}


def master(session: Session, code: str, as_of: str | None) -> dict[str, Any]:
    found = session.dicts(MASTER, where="code=?", values=(code,), as_of=as_of)
    return found[0] if found else {}


def industry(session: Session, code: str, as_of: str | None) -> dict[str, Any]:
    found = session.dicts(INDUSTRY, where="code=?", values=(code,), as_of=as_of)
    return found[0] if found else {}


def availability(session: Session, code: str, as_of: str | None) -> dict[str, bool]:
    """Whether a row of each kind exists."""
    return {
        kind: bool(
            session.rows(table, columns=("code",), where="code=?", values=(code,), as_of=as_of, limit=1)
        )
        for kind, table in AVAILABILITY.items()
    }


def newest_quotes(session: Session, codes: Sequence[str]) -> list[dict[str, Any]]:
    """The newest stored quote of each code, in the order of `codes`; codes without one are left out."""
    found = []
    for code in codes:
        found += session.dicts(
            QUOTE, columns=_QUOTE_COLUMNS, where="code=?", values=(code,), order="trade_date DESC", limit=1
        )
    return found
