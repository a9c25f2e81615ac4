"""Rows of fused tables for a whole trade date, for data types without a live answer."""

from typing import Any

from serving_api.db.sessions import Session

WIDE = "fusion_stock_wide"
CLOUD_MAP = "fusion_market_cloud_map"
_WIDE = (
    *("code", "name", "market", "current_price", "last_close", "change_pct", "amount", "turnover_pct"),
    *("is_suspended", "limit_status", "main_net", "super_net", "large_net"),
)
_NODES = (
    *("node_code", "parent_code", "level", "name", "market_cap_yi", "amount_yi", "change_pct", "main_net"),
    *("leader_name", "leader_change_pct"),
)


def wide_rows(session: Session, day: str) -> list[dict[str, Any]]:
    """Rows of the wide table of a trade date; [] when it is not stored."""
    return session.dicts(WIDE, columns=_WIDE, where="trade_date=?", values=(day,), order="code")


def map_nodes(session: Session, day: str, level: str) -> list[dict[str, Any]]:
    """Nodes of the stored tree map of a trade date: `sector` or `stock`, the largest first."""
    return session.dicts(
        CLOUD_MAP,
        columns=_NODES,
        where="trade_date=? AND level=?",
        values=(day, level),
        order="market_cap_yi DESC, node_code",
    )


def index_rows(session: Session, day: str, symbols: tuple[str, ...]) -> list[dict[str, Any]]:
    """Bars of indices on a trade date, in the order of `symbols`."""
    marks = ", ".join("?" for _ in symbols)
    rows = session.dicts(
        "fusion_index_daily",
        columns=("code", "name", "close", "last_close", "amount"),
        where=f"date=? AND code IN ({marks})",
        values=(day, *symbols),
    )
    by_code = {row["code"]: row for row in rows}
    return [by_code[symbol] for symbol in symbols if symbol in by_code]
