"""SQL over classifications and memberships."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.declaration.tables import Table
from core.text_keys import search_key
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, newest_date, public_rows

WIDE = "fusion_stock_wide"
KEY_FIGURES = (
    "code", "name", "trade_date", "current_price", "change_pct", "chg_20d", "turnover_pct", "amount",
    "pe_ttm", "pb", "dividend_yield", "roe", "revenue_yoy", "net_profit_yoy", "total_market_cap", "main_net",
)  # fmt: skip


def of_industry(
    session: Session, table: Table, columns: Sequence[str], requested: str, as_of: str | None
) -> list[Row]:
    """Rows with a value in one of the columns, by code."""
    where = " OR ".join(f"{column}=?" for column in columns)
    values = tuple(requested for _ in columns)
    return public_rows(session, table.name, where=where, values=values, as_of=as_of, order="code")


def own_industry(session: Session, table: Table, column: str, code: str, as_of: str | None) -> str | None:
    found = session.rows(table.name, columns=(column,), where="code=?", values=(code,), as_of=as_of)
    return str(found[0][0]) if found and found[0][0] else None


def key_figures(session: Session, codes: Sequence[str], limit: int, as_of: str | None) -> list[Row]:
    """The wide row of the newest date of each code, the largest market cap first."""
    if not session.has(WIDE):
        return []
    day = newest_date(session, session.table(WIDE), as_of)
    if day is None:
        return []
    requested = set(codes)
    rows = public_rows(session, WIDE, KEY_FIGURES, where="trade_date=?", values=(day,), as_of=as_of)
    rows = [row for row in rows if row["code"] in requested]
    rows.sort(key=lambda row: (-(row["total_market_cap"] or 0.0), row["code"]))
    return rows[:limit]


def matching(session: Session, table: Table, given: Mapping[str, str], limit: int) -> list[Row]:
    where, values = [], []
    for column, value in given.items():
        named = column == "block_code"
        where.append("(block_code=? OR block_name=?)" if named else f"{column}=?")
        values += [value, value] if named else [value]
    return public_rows(
        session,
        table.name,
        where=" AND ".join(where),
        values=tuple(values),
        order=", ".join(table.key),
        limit=limit,
    )


def blocks(session: Session, table: Table, kind: str, keyword: str | None) -> list[dict[str, Any]]:
    rows = session.run(
        "SELECT block_code, MAX(block_name), MAX(member_count), COUNT(*) "
        f"FROM {session.sql.name(table.name)} WHERE block_type=? GROUP BY block_code ORDER BY block_code",
        (kind,),
    )
    return [
        {
            "block_type": kind,
            "block_code": code,
            "block_name": name,
            "member_count": int(reported if reported is not None else count),
        }
        for code, name, reported, count in rows
        if keyword is None or search_key(keyword) in search_key(name or "")
    ]
