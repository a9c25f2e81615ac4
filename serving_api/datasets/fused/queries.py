"""SQL of the fused reads. Every function takes a Session first; a table that is not declared has no rows.

`as_of` is the bound instant, or None for the current rows.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from platform_assets.datasets.dividend import Dividend
from platform_assets.datasets.kline_bar import KlineBar
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.lockup import RawLockup
from platform_assets.datasets.stock_wide import StockWide
from platform_assets.datasets.valuation import Valuation
from resources.warehouse.stored import ANY, select, stored
from serving_api.db.rows import Row, headlines, in_range, public_rows
from serving_api.db.sessions import Session

MASTER = stored("fusion_stock_master")
PROFILE = stored("fusion_stock_profile")
INDUSTRY = stored("fusion_stock_industry")
FINANCE = stored("fusion_finance_indicator")
VALUATION = stored("fusion_valuation", Valuation)
MARGIN = stored("fusion_margin")
HOLDER = stored("fusion_holder")
DIVIDEND = stored("fusion_dividend", Dividend)
ANNOUNCEMENT = stored("fusion_announcement")
NEWS = stored("fusion_news")
DRAGON_TIGER = stored("fusion_dragon_tiger")
BLOCK_TRADE = stored("fusion_block_trade")
LOCKUP = stored("raw_lockup", RawLockup)
KLINE = stored("fusion_kline_daily", KlineDaily)
KLINE_BAR = stored("fusion_kline_bar", KlineBar)
INDEX_DAILY = stored("fusion_index_daily")
WIDE = stored("fusion_stock_wide", StockWide)


def of_code(session: Session, table: str, code: str, as_of: str | None) -> Row | None:
    """The row of a table whose key is the code."""
    found = public_rows(session, table, ANY.code == code, as_of=as_of)
    return found[0] if found else None


def newest_of_code(session: Session, table: str, code: str, limit: int, as_of: str | None) -> list[Row]:
    """The newest rows of a code, newest first."""
    if not session.has(table):
        return []
    declared = session.table(table)
    if table in (ANNOUNCEMENT, NEWS):
        return headlines(session, declared, code=code, limit=limit, as_of=as_of)
    return in_range(session, declared, code, limit=limit, as_of=as_of)


def dividends(session: Session, code: str, as_of: str | None) -> list[Row]:
    """Every dividend of a code, newest plan first; two plans of one day by their period."""
    order = [DIVIDEND.c.ann_date.desc(), DIVIDEND.c.report_period.desc()]
    return public_rows(session, DIVIDEND, DIVIDEND.c.code == code, as_of=as_of, order=order)


def releases(session: Session, code: str, since: str, until: str) -> list[Row]:
    """Lock-up releases of a code between two dates, oldest first."""
    of = [LOCKUP.c.code == code, LOCKUP.c.free_date >= since, LOCKUP.c.free_date <= until]
    return public_rows(session, LOCKUP, *of, order=[LOCKUP.c.free_date, LOCKUP.c.share_type])


def valuations(session: Session, code: str, limit: int, as_of: str | None) -> tuple[list[Row], int]:
    """(newest rows first, total number)."""
    rows = newest_of_code(session, VALUATION, code, limit, as_of)
    if len(rows) < limit:
        return rows, len(rows)
    dates = session.rows(VALUATION, VALUATION.c.code == code, columns=("date",), as_of=as_of)
    return rows, len(dates)


def period_bars(session: Session, code: str, period: str, limit: int, as_of: str | None) -> list[Row]:
    """Stored bars of a period, newest first."""
    of = [KLINE_BAR.c.code == code, KLINE_BAR.c.period == period]
    return public_rows(session, KLINE_BAR, *of, as_of=as_of, order=[KLINE_BAR.c.date.desc()], limit=limit)


def daily_qualities(session: Session, code: str, as_of: str | None) -> dict[str, str]:
    """Date -> quality of the daily bars of a code that are not ok."""
    of, columns = [KLINE.c.code == code, KLINE.c.quality != "ok"], ("date", "quality")
    rows = session.rows(KLINE, *of, columns=columns, as_of=as_of)
    return {str(day): str(quality) for day, quality in rows}


def index_bars(session: Session, codes: Sequence[str], limit: int, as_of: str | None) -> list[Row]:
    """The newest `limit` bars of each index, newest first within an index."""
    return [row for code in codes for row in newest_of_code(session, INDEX_DAILY, code, limit, as_of)]


def cores(session: Session, codes: Sequence[str], as_of: str | None) -> list[dict[str, Row | None]]:
    """Master, industry and newest finance row of each code that has a master row, in their order."""
    return [
        {
            "master": master,
            "industry": of_code(session, INDUSTRY, code, as_of),
            "finance": next(iter(newest_of_code(session, FINANCE, code, 1, as_of)), None),
        }
        for code in codes
        if (master := of_code(session, MASTER, code, as_of)) is not None
    ]


def qualities(session: Session, tables: Sequence[str]) -> dict[str, dict[str, int]]:
    """Rows of each table by quality."""
    counted = (ANY.quality, sa.func.count())
    return {
        table: {
            str(quality): int(count)
            for quality, count in session.run(select(table, *counted).group_by(ANY.quality))
        }
        for table in tables
    }


def wide_rows(session: Session, date: str, as_of: str | None) -> list[Row]:
    """The wide table's rows of one trade date."""
    return public_rows(session, WIDE, WIDE.c.trade_date == date, as_of=as_of)
