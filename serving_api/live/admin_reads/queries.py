"""SQL of the live reads: stored rows for when no live source answers."""

from collections.abc import Sequence
from typing import Any

from serving_api.db.rows import public_rows
from serving_api.db.sessions import Session

FLOW = "fusion_fund_flow"
FLASH = "raw_news_flash"
LIMIT_POOL = "raw_limit_pool"
CLOUD_MAP = "fusion_market_cloud_map"
HOT = "raw_hot_stocks"
QUOTES = "fusion_quote_snapshot"


def stored_flashes(session: Session, limit: int) -> list[dict[str, Any]]:
    """The newest stored flash news, newest first."""
    return session.dicts(FLASH, order="pub_time DESC, flash_id DESC", limit=limit)


def stored_flows(session: Session, code: str, days: int, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The newest `days` stored money flows of a code, oldest first."""
    return session.dicts(FLOW, {"code": code}, columns=columns, order="date DESC", limit=days)[::-1]


def limit_ups(session: Session, day: str) -> list[dict[str, Any]]:
    """The stored pool of limit-ups of a date, the first sealed first."""
    of, order = {"trade_date": day, "pool": "up"}, "first_seal_time IS NULL, first_seal_time, code"
    return public_rows(session, LIMIT_POOL, of=of, order=order)


def sectors(session: Session, day: str) -> list[dict[str, Any]]:
    """The sectors of the stored tree map of a date."""
    return public_rows(session, CLOUD_MAP, of={"trade_date": day, "level": "sector"})


def strong_stocks(session: Session, day: str) -> list[dict[str, Any]]:
    """The stored strong stocks of a date with price, turnover and amount of their closing quotes."""
    listed = public_rows(session, HOT, of={"trade_date": day, "list_type": "ths_strong"}, order="code")
    columns = ("code", "price", "turnover_pct", "amount")
    quotes = {row["code"]: row for row in session.dicts(QUOTES, {"trade_date": day}, columns=columns)}
    return [{**quotes.get(row["code"], {}), **row} for row in listed]
