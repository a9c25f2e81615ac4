"""Interfaces over classifications: industries with their members, peers of a stock, boards and blocks."""

from collections.abc import Mapping
from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.call import Executor, InterfaceCall
from serving_api.interfaces.industries import queries
from serving_api.interfaces.parameters import MOST_ROWS
from serving_api.interfaces.queries import public_columns

LEVELS: Mapping[str, tuple[str, ...]] = {
    "sw_l1": ("sw_l1", "sw_l1_name"),
    "sw_l2": ("sw_l2", "sw_l2_name"),
    "sw_l3": ("sw_l3", "sw_l3_name"),
    "industry": ("industry",),
    "em_industry": ("em_industry",),
    "tdx_industry": ("tdx_industry",),
    "csrc_industry": ("csrc_industry",),
    "region": ("region",),
}
"""Level -> the columns that name it: a code and its name, or the name alone."""


def members(session: Session, call: InterfaceCall) -> Any:
    """Rows of the stocks of one industry, given by code or by name, ordered by code."""
    columns = _level(call)
    return queries.of_industry(session, call.table, columns, call.params["industry_code"], call.as_of)


def industries(session: Session, call: InterfaceCall) -> Any:
    """{industry_code, industry_name, member_count} of a level, the largest first."""
    columns = _level(call)
    rows = session.rows(call.table.name, columns=columns, as_of=call.as_of)
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        name = row[-1]
        if name:
            group = (row[0] or name, name)
            counts[group] = counts.get(group, 0) + 1
    order = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [
        {"industry_code": code, "industry_name": name, "member_count": count} for (code, name), count in order
    ]


def peers(session: Session, call: InterfaceCall) -> Any:
    """Key figures of the other stocks of a stock's industry on the newest date, the largest first; empty
    without a classification."""
    columns = _level(call)
    own = queries.own_industry(session, call.table, columns[0], call.code, call.as_of)
    if own is None:
        return []
    same = queries.of_industry(session, call.table, columns[:1], own, call.as_of)
    codes = [row["code"] for row in same if row["code"] != call.code]
    return queries.key_figures(session, codes, call.params["limit"], call.as_of)


def matching(session: Session, call: InterfaceCall) -> Any:
    """Every current row whose columns equal the parameters of the same name, by key. A block is given by
    its code or by its name."""
    known = public_columns(call.table)
    given = {name: value for name, value in call.params.items() if name in known and value is not None}
    return queries.matching(session, call.table, given, MOST_ROWS)


def blocks(session: Session, call: InterfaceCall) -> Any:
    """{block_type, block_code, block_name, member_count} of one kind, by code, with a keyword in the name."""
    return queries.blocks(session, call.table, call.params["block_type"], call.params["keyword"])


def _level(call: InterfaceCall) -> tuple[str, ...]:
    level = call.params["level"]
    if level not in LEVELS:
        raise call.bad("level", f"{level[:40]!r} is none of {', '.join(LEVELS)}")
    return LEVELS[level]


EXECUTORS: Mapping[str, Executor] = {
    "industry_members": members,
    "industry_list": industries,
    "industry_peers": peers,
    "matching": matching,
    "blocks": blocks,
}
