"""SQL of the factor reads. Every function takes a Session first."""

from collections.abc import Sequence
from typing import Any

from platform_assets.compute.factors.definitions import INPUT_COLUMNS
from platform_assets.compute.factors.gates import GATE_COLUMNS
from platform_assets.compute.factors.presets import INDUSTRY_COLUMNS
from serving_api.db.rows import newest_date
from serving_api.db.sessions import Session
from serving_api.framework.display_fields import COLUMNS

WIDE = "fusion_stock_wide"
MASTER = "fusion_stock_master"
INDUSTRIES = "fusion_stock_industry"
NAMES = "ref_name_history"
INDUSTRY = ("industry", "em_industry", "sw_l1_name", "sw_l2_name")
KLINE = "fusion_kline_daily"
VALUATION = "fusion_valuation"
FLOW = "fusion_fund_flow"
FINANCE = "fusion_finance_indicator"

MARKET_COLUMNS = tuple(
    dict.fromkeys(
        (
            *COLUMNS.values(),
            *("is_suspended", "report_period"),
            *GATE_COLUMNS,
            *INDUSTRY_COLUMNS,
            *INPUT_COLUMNS,
        )
    )
)

Columns = dict[str, list[Any]]


def market(session: Session, day: str | None, as_of: str | None) -> tuple[str, Columns] | None:
    """(date, columns of the wide rows of that date by code), of the newest date when none is requested.
    None when nothing is stored. Undeclared columns are missing."""
    if not session.has(WIDE):
        return None
    day = day or newest_date(session, session.table(WIDE), as_of)
    if day is None:
        return None
    names = session.columns(WIDE, MARKET_COLUMNS)
    rows = session.rows(WIDE, {"trade_date": day}, columns=names, as_of=as_of, order="code")
    found = zip(*rows, strict=True) if rows else [()] * len(names)
    return day, {name: list(values) for name, values in zip(names, found, strict=True)}


def bars_of_day(session: Session, day: str) -> list[dict[str, Any]]:
    """Bars of all stocks on a date, by code."""
    return session.dicts(
        KLINE,
        {"date": day},
        columns=("code", "close", "change_pct", "is_suspended"),
        where="sec_type='stock'",
        order="code",
    )


def facts_on(session: Session, day: str) -> dict[str, dict[str, Any]]:
    """Code -> its name on a date, whether that name marks special treatment, its exchange and its
    industries. Without a history of names today's name, and None for special treatment."""
    found: dict[str, dict[str, Any]] = {}
    for table, columns in ((MASTER, ("name", "market")), (INDUSTRIES, INDUSTRY)):
        for row in session.dicts(table, columns=("code", *columns)):
            found.setdefault(str(row.pop("code")), {}).update(row)
    where = "valid_from<=? AND (valid_to IS NULL OR valid_to>=?)"
    for row in session.dicts(NAMES, columns=("code", "name", "is_st"), where=where, values=(day, day)):
        found.setdefault(str(row.pop("code")), {}).update(row)
    return found


def series(
    session: Session, table: str, columns: Sequence[str], codes: Sequence[str], since: str, until: str
) -> list[tuple[Any, ...]]:
    """(code, date, *columns) of some codes between two dates; empty for a table that is not declared."""
    where, values = "date>=? AND date<=?", (since, until)
    return session.of_codes(table, codes, columns=("code", "date", *columns), where=where, values=values)


def reports(
    session: Session, columns: Sequence[str], codes: Sequence[str], since: str, until: str
) -> list[tuple[Any, ...]]:
    """(code, day of announcement, report period, *columns) of some codes, announced by `until`, with a period
    since `since`."""
    return session.of_codes(
        FINANCE,
        codes,
        columns=("code", "ann_date", "report_period", *columns),
        where="report_period>=? AND ann_date IS NOT NULL AND ann_date<=?",
        values=(since, until),
    )
