"""SQL of the fused reads. Every function takes a Session first; a table that is not declared has no rows.

`as_of` is the bound instant, or None for the current rows.
"""

from collections.abc import Sequence

from serving_api.db.rows import Row, headlines, in_range, public_rows
from serving_api.db.sessions import Session

MASTER = "fusion_stock_master"
PROFILE = "fusion_stock_profile"
INDUSTRY = "fusion_stock_industry"
FINANCE = "fusion_finance_indicator"
VALUATION = "fusion_valuation"
MARGIN = "fusion_margin"
HOLDER = "fusion_holder"
DIVIDEND = "fusion_dividend"
ANNOUNCEMENT = "fusion_announcement"
NEWS = "fusion_news"
DRAGON_TIGER = "fusion_dragon_tiger"
BLOCK_TRADE = "fusion_block_trade"
LOCKUP = "raw_lockup"
KLINE = "fusion_kline_daily"
KLINE_BAR = "fusion_kline_bar"
INDEX_DAILY = "fusion_index_daily"
WIDE = "fusion_stock_wide"


def of_code(session: Session, table: str, code: str, as_of: str | None) -> Row | None:
    """The row of a table whose key is the code."""
    found = public_rows(session, table, of={"code": code}, as_of=as_of)
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
    order = "ann_date DESC, report_period DESC"
    return public_rows(session, DIVIDEND, of={"code": code}, as_of=as_of, order=order)


def releases(session: Session, code: str, since: str, until: str) -> list[Row]:
    """Lock-up releases of a code between two dates, oldest first."""
    of = {"code": code, "free_date>=": since, "free_date<=": until}
    return public_rows(session, LOCKUP, of=of, order="free_date, share_type")


def valuations(session: Session, code: str, limit: int, as_of: str | None) -> tuple[list[Row], int]:
    """(newest rows first, total number)."""
    rows = newest_of_code(session, VALUATION, code, limit, as_of)
    if len(rows) < limit:
        return rows, len(rows)
    dates = session.rows(VALUATION, {"code": code}, columns=("date",), as_of=as_of)
    return rows, len(dates)


def period_bars(session: Session, code: str, period: str, limit: int, as_of: str | None) -> list[Row]:
    """Stored bars of a period, newest first."""
    of = {"code": code, "period": period}
    return public_rows(session, KLINE_BAR, of=of, as_of=as_of, order="date DESC", limit=limit)


def daily_qualities(session: Session, code: str, as_of: str | None) -> dict[str, str]:
    """Date -> quality of the daily bars of a code that are not ok."""
    of, columns = {"code": code, "quality<>": "ok"}, ("date", "quality")
    rows = session.rows(KLINE, of, columns=columns, as_of=as_of)
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
    return {
        table: {
            str(quality): int(count)
            for quality, count in session.run(f"SELECT quality, COUNT(*) FROM {table} GROUP BY quality")
        }
        for table in tables
    }


def wide_rows(session: Session, date: str, as_of: str | None) -> list[Row]:
    """The wide table's rows of one trade date."""
    return public_rows(session, WIDE, of={"trade_date": date}, as_of=as_of)
