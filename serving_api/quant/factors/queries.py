"""SQL of the factor reads. Every function takes a Session first."""

from collections.abc import Sequence
from typing import Any

from platform_assets.compute.factors.definitions import INPUT_COLUMNS
from platform_assets.compute.factors.gates import GATE_COLUMNS
from platform_assets.compute.factors.presets import INDUSTRY_COLUMNS
from platform_assets.datasets.finance_indicator import FinanceIndicator
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.name_history import NameSpan
from platform_assets.datasets.stock_wide import StockWide
from resources.warehouse.stored import ANY, stored, within
from serving_api.db.rows import newest_date
from serving_api.db.sessions import Session
from serving_api.framework.display_fields import COLUMNS

WIDE = stored("fusion_stock_wide", StockWide)
MASTER = stored("fusion_stock_master")
INDUSTRIES = stored("fusion_stock_industry")
NAMES = stored("ref_name_history", NameSpan)
INDUSTRY = ("industry", "em_industry", "sw_l1_name", "sw_l2_name")
KLINE = stored("fusion_kline_daily", KlineDaily)
VALUATION = stored("fusion_valuation")
FLOW = stored("fusion_fund_flow")
FINANCE = stored("fusion_finance_indicator", FinanceIndicator)

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
    rows = session.rows(WIDE, WIDE.c.trade_date == day, columns=names, as_of=as_of, order=[WIDE.c.code])
    found = zip(*rows, strict=True) if rows else [()] * len(names)
    return day, {name: list(values) for name, values in zip(names, found, strict=True)}


def bars_of_day(session: Session, day: str) -> list[dict[str, Any]]:
    """Bars of all stocks on a date, by code."""
    return session.dicts(
        KLINE,
        KLINE.c.date == day,
        KLINE.c.sec_type == "stock",
        columns=("code", "close", "change_pct", "is_suspended"),
        order=[KLINE.c.code],
    )


def facts_on(session: Session, day: str) -> dict[str, dict[str, Any]]:
    """Code -> its name on a date, whether that name marks special treatment, its exchange and its
    industries. Without a history of names today's name, and None for special treatment."""
    found: dict[str, dict[str, Any]] = {}
    for table, columns in ((MASTER, ("name", "market")), (INDUSTRIES, INDUSTRY)):
        for row in session.dicts(table, columns=("code", *columns)):
            found.setdefault(str(row.pop("code")), {}).update(row)
    where = [NAMES.c.valid_from <= day, NAMES.c.valid_to.is_(None) | (NAMES.c.valid_to >= day)]
    for row in session.dicts(NAMES, *where, columns=("code", "name", "is_st")):
        found.setdefault(str(row.pop("code")), {}).update(row)
    return found


def series(
    session: Session, table: str, columns: Sequence[str], codes: Sequence[str], since: str, until: str
) -> list[tuple[Any, ...]]:
    """(code, date, *columns) of some codes between two dates; empty for a table that is not declared."""
    return session.of_codes(table, codes, *within(ANY.date, since, until), columns=("code", "date", *columns))


def reports(
    session: Session, columns: Sequence[str], codes: Sequence[str], since: str, until: str
) -> list[tuple[Any, ...]]:
    """(code, day of announcement, report period, *columns) of some codes, announced by `until`, with a period
    since `since`."""
    return session.of_codes(
        FINANCE,
        codes,
        FINANCE.c.report_period >= since,
        FINANCE.c.ann_date.is_not(None),
        FINANCE.c.ann_date <= until,
        columns=("code", "ann_date", "report_period", *columns),
    )
