"""SQL of the industry reads. Every function takes a Session first."""

from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

RATIOS = "raw_industry_valuation"
CLASSES = "fusion_stock_industry"
VALUATION = "fusion_valuation"
SERIES = ("date", "pe_weighted", "pe_median", "pb", "dividend_yield")
_ALL = 20_000


def ratios(
    session: Session, standard: str, level: str | None, day: str | None
) -> tuple[list[Row], str | None]:
    """Industries of a classification on a date, or on its newest, by level and code; and that date."""
    if day is None:
        newest = _newest(session, standard)
        if newest is None:
            return [], None
        day = newest
    where, values = "standard=? AND date=?", [standard, day]
    if level is not None:
        where, values = f"{where} AND level=?", [*values, level]
    rows = public_rows(
        session, RATIOS, where=where, values=tuple(values), order="level, industry_code", limit=_ALL
    )
    return rows, day


def _newest(session: Session, standard: str) -> str | None:
    if not session.has(RATIOS):
        return None
    found = session.rows(
        RATIOS, columns=("date",), where="standard=?", values=(standard,), order="date DESC", limit=1
    )
    return str(found[0][0]) if found else None


def detail(
    session: Session, standard: str, industry_code: str, days: int
) -> tuple[list[Row], list[dict[str, Any]]]:
    """(newest dates of an industry, oldest first; its stocks with their newest ratios, by code)."""
    rows = public_rows(
        session,
        RATIOS,
        where="standard=? AND industry_code=?",
        values=(standard, industry_code),
        order="date DESC",
        limit=days,
    )[::-1]
    if not rows:
        return [], []
    return rows, _members(session, standard, industry_code, str(rows[-1]["industry_name"]))


def _members(session: Session, standard: str, code: str, name: str) -> list[dict[str, Any]]:
    """Stocks by our own classification: SW's by code, the regulator's by name. No stock is assigned to
    CNI's."""
    columns = ["code", "name", "sw_l1", "sw_l2", "sw_l3", "csrc_industry"]
    classed = public_rows(session, CLASSES, columns, order="code", limit=_ALL)
    if standard == "sw":
        own = [row for row in classed if code in (row["sw_l1"], row["sw_l2"], row["sw_l3"])]
    elif standard == "csrc":
        own = [row for row in classed if name in str(row["csrc_industry"] or "").split("-")]
    else:
        return []
    ratio = _newest_ratios(session, [row["code"] for row in own])
    return [
        {"code": row["code"], "name": row["name"], **ratio.get(row["code"], {"pe_ttm": None, "pb": None})}
        for row in own
    ]


def _newest_ratios(session: Session, codes: list[str]) -> dict[str, dict[str, Any]]:
    """Ratios of some stocks on the newest date that is stored."""
    if not session.has(VALUATION):
        return {}
    newest = session.rows(VALUATION, columns=("date",), order="date DESC", limit=1)
    if not newest:
        return {}
    columns, values = ("code", "pe_ttm", "pb"), (newest[0][0],)
    rows = session.of_codes(VALUATION, codes, columns=columns, where="date=?", values=values)
    return {code: {"pe_ttm": pe, "pb": pb} for code, pe, pb in rows}
