"""Models of fused records: the specification's names first, then the other columns of the row. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[str, Any]

_ORDER = {
    "master": ("code", "name", "total_shares", "float_shares", "quality"),
    "profile": ("code",),
    "finance": ("report_period", "revenue", "net_profit", "eps", "bvps"),
    "valuation": ("code", "pe_ttm", "pb", "total_market_cap", "price", "as_of_date", "quality"),
    "industry": ("code", "name", "industry", "em_industry", "tdx_industry", "sw_l1", "sw_l2", "quality"),
    "margin": ("date", "rzye", "rzmre", "rqye", "rzrqye", "fin_ratio_pct", "loan_volume"),
    "holder": ("date", "holder_num", "change_num", "change_ratio", "avg_shares"),
    "dividend": ("ex_date", "bonus_rmb", "transfer_ratio", "bonus_ratio", "progress"),
    "announcement": ("pub_date", "title", "ann_type", "url", "quality"),
    "news": (
        "pub_time", "title", "content", "source", "url", "news_type", "rating", "researcher", "quality",
    ),
    "dragon_tiger": (
        "date", "reason", "net_buy", "turnover", "close", "next_change_pct", "buy_amt", "sell_amt", "quality",
    ),
    "block_trade": (
        "date", "buyer", "seller", "price", "volume", "close", "premium_pct", "amount", "quality",
    ),
    "index": (
        "code", "date", "name", "open", "close", "high", "low", "volume", "amount", "quality",
    ),
    "period": (
        "period", "date", "last_date", "is_closed", "open", "close", "high", "low", "volume", "amount",
        "bar_count", "quality",
    ),
}  # fmt: skip
SNAPSHOT = ("date", "price", "pe_ttm", "pb", "total_market_cap")
_FINANCE_KEYS = ("report_period", "revenue", "net_profit", "eps", "bvps", "roe")


def shaped(kind: str, row: Row) -> Row:
    """`row` with the names of its kind first; names that the row lacks are null."""
    return {name: row.get(name) for name in _ORDER[kind]} | row


def only(kind: str, row: Row) -> Row:
    """Only the names of a kind."""
    return {name: row.get(name) for name in _ORDER[kind]}


def stock(code: str, found: Mapping[str, Any]) -> Row:
    """master, profile, finance (newest first), latest_finance and the quality of each existing row."""
    master, profile = found["master"], found["profile"]
    finance = [shaped("finance", row) for row in found["finance"]]
    parts = {"master": master, "profile": profile, "finance": finance[0] if finance else None}
    return {
        "code": code,
        "master": shaped("master", master) if master else None,
        "profile": shaped("profile", profile) if profile else None,
        "finance": finance,
        "latest_finance": finance[0] if finance else None,
        "quality": {name: part.get("quality") for name, part in parts.items() if part},
    }


def valuation(code: str, rows: Sequence[Row], total: int) -> Row:
    """The newest row, and the newest snapshots oldest first."""
    newest = {**rows[0], "as_of_date": rows[0]["date"]}
    snapshots = [{name: row.get(name) for name in SNAPSHOT} for row in reversed(rows)]
    return {
        "code": code,
        "valuation": shaped("valuation", newest),
        "snapshots": snapshots,
        "total_snapshots": total,
    }


def release(row: Row) -> Row:
    """One lock-up release."""
    return {
        "date": row["free_date"],
        "type": row["share_type"],
        "shares": row["free_shares"],
        "able_shares": row["able_shares"],
        "ratio_pct": row["ratio_total_pct"],
        "market_value": row["market_value"],
    }


def core(found: Mapping[str, Row | None]) -> Row:
    """One stock of `/fusion/stocks`."""
    master, industry, finance = found["master"] or {}, found["industry"] or {}, found["finance"] or {}
    return {
        **{name: master.get(name) for name in ("code", "name", "market", "total_shares", "float_shares")},
        "industry": industry.get("industry"),
        **{name: finance.get(name) for name in _FINANCE_KEYS},
        "quality": master.get("quality"),
    }
