"""Interfaces over classifications: industries with their members, peers of a stock, boards and blocks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.text_keys import search_key
from serving_api.db.rows import Row, newest_of, public_columns, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall
from serving_api.interfaces.parameters import MOST_ROWS

WIDE = "fusion_stock_wide"
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
    own = session.first(call.table.name, column, {"code": call.code}, as_of=call.as_of)
    if not own:
        return []
    codes = {row["code"] for row in _of_industry(session, call, (column,), own)} - {call.code}
    day = newest_of(session, WIDE, call.as_of)
    if day is None:
        return []
    order = "total_market_cap IS NULL, total_market_cap DESC, code"
    return public_rows(
        session, WIDE, KEY_FIGURES, {"trade_date": day, "code": sorted(codes)}, as_of=call.as_of, order=order,
        limit=call.params["limit"],
    )  # fmt: skip


def _of_industry(session: Session, call: InterfaceCall, columns: Sequence[str], requested: str) -> list[Row]:
    """Rows with a value in one of the columns, by code."""
    where, values = " OR ".join(f"{column}=?" for column in columns), [requested] * len(columns)
    return public_rows(session, call.table.name, where=where, values=values, as_of=call.as_of, order="code")


def matching(session: Session, call: InterfaceCall) -> Any:
    """Every current row whose columns equal the parameters of the same name, by key. A block is given by
    its code or by its name."""
    known = public_columns(call.table)
    of = {f"{name}?": value for name, value in call.params.items() if name in known}
    block = of.pop("block_code?", None)
    where = "" if block is None else "(block_code=? OR block_name=?)"
    values, order = () if block is None else (block, block), ", ".join(call.table.key)
    return public_rows(
        session, call.table.name, of=of, where=where, values=values, order=order, limit=MOST_ROWS
    )


def blocks(session: Session, call: InterfaceCall) -> Any:
    """{block_type, block_code, block_name, member_count} of one kind, by code, with a keyword in the name."""
    kind, keyword = call.params["block_type"], call.params["keyword"]
    rows = session.run(
        "SELECT block_code, MAX(block_name), MAX(member_count), COUNT(*) FROM "
        f"{session.sql.name(call.table.name)} WHERE block_type=? GROUP BY block_code ORDER BY block_code",
        (kind,),
    )
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
