"""Boards of the portal and blocks of the terminal with their members; each is the fallback of the other.
Codes and names are those of the source that answered."""

import pandas as pd

from core.declaration.scope import Scope
from core.market.securities import is_a_share
from resources.upstreams.fetch_context import FetchContext

HOT_RANK = 20
_KINDS = {"gn": "concept", "hy": "industry"}
"""Families of the terminal's files -> kinds of the portal's boards."""
_LONGEST = 16


def portal_boards(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Industry, region and concepts of the list of all A shares, joined by name to the boards."""
    stocks = ctx.portal_list()
    stocks = stocks[stocks["code"].isin(list(scope.codes))] if scope.codes is not None else stocks
    parts = []
    for kind, column in (("industry", "industry"), ("region", "region"), ("concept", "concepts")):
        named = stocks[["code", column]].rename(columns={column: "block_name"}).dropna()
        if kind == "concept":
            named["block_name"] = named["block_name"].str.split(",")
            named = named.explode("block_name")
        named = named[named["block_name"].str.len() > 0].drop_duplicates()
        parts.append(named.merge(_boards(ctx, kind), on="block_name", how="inner"))
    return pd.concat(parts, ignore_index=True)


def terminal_boards(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Concepts and industries of the terminal's files, which hold no regions and no changes."""
    members = pd.concat([_members(ctx, kind) for kind in _KINDS], ignore_index=True)
    rows = members[
        members["code"].map(is_a_share).astype(bool) & (members["block_code"].str.len() <= _LONGEST)
    ]
    rows = rows.assign(block_type=rows["block_type"].map(_KINDS))
    rows = rows[["code", "block_code", "block_name", "block_type"]].drop_duplicates(["code", "block_code"])
    return rows[rows["code"].isin(list(scope.codes))] if scope.codes is not None else rows


def _boards(ctx: FetchContext, kind: str) -> pd.DataFrame:
    boards = ctx.once(("boards", kind), lambda view: view.eastmoney.boards(kind))
    rank = boards["change_pct"].rank(ascending=False, method="first")
    return pd.DataFrame(
        {
            "block_name": boards["board_name"],
            "block_code": boards["board_code"],
            "block_type": kind,
            "change_pct": boards["change_pct"],
            "rank_no": rank,
            "is_hot": rank <= HOT_RANK,
        }
    ).drop_duplicates("block_name")


def terminal_blocks(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Members of the terminal's four kinds of blocks."""
    parts = []
    for kind in ("zs", "gn", "fg", "hy"):
        members = _members(ctx, kind)
        members["member_count"] = members.groupby("block_code")["code"].transform("size")
        parts.append(members)
    return _named(ctx.securities(), scope, pd.concat(parts, ignore_index=True))


def portal_blocks(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The portal's concepts and industries in the place of the terminal's, by the names of boards in the
    list of all A shares: the answers that the boards of each stock are made of, no further call."""
    rows = portal_boards(ctx, Scope(scope.dates))
    kinds = {name: kind for kind, name in _KINDS.items()}
    rows = rows[rows["block_type"].isin(list(kinds))]
    rows = rows.assign(block_type=rows["block_type"].map(kinds))
    rows["member_count"] = rows.groupby(["block_type", "block_code"])["code"].transform("size")
    rows = rows[["block_type", "block_code", "block_name", "code", "member_count"]]
    return _named(ctx.portal_list(), scope, rows)


def _members(ctx: FetchContext, kind: str) -> pd.DataFrame:
    """Members of the blocks of one kind; a block without an index of its own is known by its name."""
    members = pd.DataFrame(ctx.once(("block_members", kind), lambda view: view.tdx.block_members(kind)))
    if members.empty:
        return pd.DataFrame(columns=["block_type", "block_code", "code", "block_name"])
    named = members["block_code"].fillna("").str.len() > 0
    code = members["block_code"].where(named, members["block_name"])
    return members.assign(block_type=kind, block_code=code)


def _named(listed: pd.DataFrame, scope: Scope, rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.drop_duplicates(["block_type", "block_code", "code"])
    rows = rows.merge(listed[["code", "name"]].drop_duplicates("code"), on="code", how="left")
    return rows[rows["code"].isin(list(scope.codes))] if scope.codes is not None else rows
