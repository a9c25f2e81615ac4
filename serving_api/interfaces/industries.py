"""Interfaces over classifications: industries with their members, peers of a stock, boards and blocks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from core.text_keys import search_key
from platform_assets.datasets.stock_wide import StockWide
from resources.warehouse.stored import ANY, select, stored
from serving_api.db.rows import Row, newest_of, public_columns, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall
from serving_api.interfaces.parameters import MOST_ROWS

WIDE = stored("fusion_stock_wide", StockWide)
KEY_FIGURES = (
    "code", "name", "trade_date", "current_price", "change_pct", "chg_20d", "turnover_pct", "amount",
    "pe_ttm", "pb", "dividend_yield", "roe", "revenue_yoy", "net_profit_yoy", "total_market_cap", "main_net",
)  # fmt: skip


_NAMED = ("industry", "em_industry", "tdx_industry", "csrc_industry", "region")
LEVELS: Mapping[str, tuple[str, ...]] = {
    **{level: (level, f"{level}_name") for level in ("sw_l1", "sw_l2", "sw_l3")},
    **{level: (level,) for level in _NAMED},
}
"""Level -> the columns that name it: a code and its name, or the name alone."""


def industry_members(session: Session, call: InterfaceCall) -> Any:
    """Rows of the stocks of one industry, given by code or by name, ordered by code."""
    return _of_industry(session, call, _level(call), call.params["industry_code"])


def industry_list(session: Session, call: InterfaceCall) -> Any:
    """{industry_code, industry_name, member_count} of a level, the largest first."""
    columns = _level(call)
    rows = session.rows(call.table.name, columns=columns, as_of=call.as_of)
    counts = Counter((row[0] or row[-1], row[-1]) for row in rows if row[-1])
    order = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [
        {"industry_code": code, "industry_name": name, "member_count": count} for (code, name), count in order
    ]


def industry_peers(session: Session, call: InterfaceCall) -> Any:
    """Key figures of the other stocks of a stock's industry on the newest date, the largest first; empty
    without a classification."""
    column = _level(call)[0]
    own = session.first(call.table.name, column, ANY.code == call.code, as_of=call.as_of)
    if not own:
        return []
    codes = {row["code"] for row in _of_industry(session, call, (column,), own)} - {call.code}
    day = newest_of(session, WIDE, call.as_of)
    if day is None:
        return []
    order = [WIDE.c.total_market_cap.is_(None), WIDE.c.total_market_cap.desc(), WIDE.c.code]
    return public_rows(
        session, WIDE, WIDE.c.trade_date == day, WIDE.c.code.in_(sorted(codes)), columns=KEY_FIGURES,
        as_of=call.as_of, order=order, limit=call.params["limit"],
    )  # fmt: skip


def _of_industry(session: Session, call: InterfaceCall, columns: Sequence[str], requested: str) -> list[Row]:
    """Rows with a value in one of the columns, by code."""
    level = sa.or_(*(ANY[column] == requested for column in columns))
    return public_rows(session, call.table.name, level, as_of=call.as_of, order=["code"])


def matching(session: Session, call: InterfaceCall) -> Any:
    """Every current row whose columns equal the parameters of the same name, by key. A block is given by
    its code or by its name."""
    known = public_columns(call.table)
    given = {name: value for name, value in call.params.items() if name in known and value is not None}
    block = given.pop("block_code", None)
    where = [ANY[name] == value for name, value in given.items()]
    if block is not None:
        where.append((ANY.block_code == block) | (ANY.block_name == block))
    return public_rows(session, call.table.name, *where, order=call.table.key, limit=MOST_ROWS)


def blocks(session: Session, call: InterfaceCall) -> Any:
    """{block_type, block_code, block_name, member_count} of one kind, by code, with a keyword in the name."""
    kind, keyword = call.params["block_type"], call.params["keyword"]
    code = ANY.block_code
    figures = (sa.func.max(ANY.block_name), sa.func.max(ANY.member_count), sa.func.count())
    blocks = select(call.table.name, code, *figures).where(ANY.block_type == kind)
    rows = session.run(blocks.group_by(code).order_by(code))
    return [
        {
            "block_type": kind,
            "block_code": code,
            "block_name": name,
            "member_count": int(count if stored is None else stored),
        }
        for code, name, stored, count in rows
        if keyword is None or search_key(keyword) in search_key(name or "")
    ]


def _level(call: InterfaceCall) -> tuple[str, ...]:
    level = call.params["level"]
    if level not in LEVELS:
        raise call.bad("level", f"{level[:40]!r} is none of {', '.join(LEVELS)}")
    return LEVELS[level]
