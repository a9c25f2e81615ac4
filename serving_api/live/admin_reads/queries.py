"""SQL of the live reads: master data of codes, and stored rows for when no live source answers."""

from collections.abc import Sequence
from typing import Any

from serving_api.db.rows import public_rows
from serving_api.db.sessions import Session, code_clauses

MASTER = "fusion_stock_master"
FLOW = "fusion_fund_flow"
FLASH = "raw_news_flash"
LIMIT_POOL = "raw_limit_pool"
CLOUD_MAP = "fusion_market_cloud_map"
HOT = "raw_hot_stocks"
QUOTES = "fusion_quote_snapshot"
_MASTER_COLUMNS = ("code", "name", "market", "board", "is_st", "total_shares", "float_shares", "list_date")
_LISTED_COLUMNS = (*_MASTER_COLUMNS, "sec_type", "list_status")


def masters(session: Session, codes: Sequence[str]) -> list[dict[str, Any]]:
    """Master rows of the given codes that are stored."""
    found: list[dict[str, Any]] = []
    for where, some in code_clauses(codes):
        found += session.dicts(MASTER, columns=_MASTER_COLUMNS, where=where, values=some)
    return found


def listed_stocks(session: Session) -> list[dict[str, Any]]:
    """Master rows of every A share that is not delisted or before its listing."""
    where = "sec_type='stock' AND (list_status IS NULL OR list_status IN ('L', 'S'))"
    return session.dicts(MASTER, columns=_LISTED_COLUMNS, where=where)


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
