"""SQL of the live reads: stored rows for when no live source answers."""

from collections.abc import Sequence
from typing import Any

from platform_assets.datasets.fund_flow import FundFlow
from platform_assets.datasets.hot_stocks import RawHotStock
from platform_assets.datasets.limit_pool import RawLimitPool
from platform_assets.datasets.market_cloud_map import MarketCloudMap
from platform_assets.datasets.news_flash import NewsFlash
from platform_assets.datasets.quote_snapshot import QuoteSnapshot
from resources.warehouse.stored import stored
from serving_api.db.rows import public_rows
from serving_api.db.sessions import Session

FLOW = stored("fusion_fund_flow", FundFlow)
FLASH = stored("raw_news_flash", NewsFlash)
LIMIT_POOL = stored("raw_limit_pool", RawLimitPool)
CLOUD_MAP = stored("fusion_market_cloud_map", MarketCloudMap)
HOT = stored("raw_hot_stocks", RawHotStock)
QUOTES = stored("fusion_quote_snapshot", QuoteSnapshot)


def stored_flashes(session: Session, limit: int) -> list[dict[str, Any]]:
    """The newest stored flash news, newest first."""
    return session.dicts(FLASH, order=[FLASH.c.pub_time.desc(), FLASH.c.flash_id.desc()], limit=limit)


def stored_flows(session: Session, code: str, days: int, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The newest `days` stored money flows of a code, oldest first."""
    return session.dicts(FLOW, FLOW.c.code == code, columns=columns, order=[FLOW.c.date.desc()], limit=days)[
        ::-1
    ]


def limit_ups(session: Session, day: str) -> list[dict[str, Any]]:
    """The stored pool of limit-ups of a date, the first sealed first."""
    of = [LIMIT_POOL.c.trade_date == day, LIMIT_POOL.c.pool == "up"]
    order = [LIMIT_POOL.c.first_seal_time.is_(None), LIMIT_POOL.c.first_seal_time, LIMIT_POOL.c.code]
    return public_rows(session, LIMIT_POOL, *of, order=order)


def sectors(session: Session, day: str) -> list[dict[str, Any]]:
    """The sectors of the stored tree map of a date."""
    return public_rows(session, CLOUD_MAP, CLOUD_MAP.c.trade_date == day, CLOUD_MAP.c.level == "sector")


def strong_stocks(session: Session, day: str) -> list[dict[str, Any]]:
    """The stored strong stocks of a date with price, turnover and amount of their closing quotes."""
    listed = public_rows(
        session, HOT, HOT.c.trade_date == day, HOT.c.list_type == "ths_strong", order=[HOT.c.code]
    )
    columns = ("code", "price", "turnover_pct", "amount")
    quotes = {row["code"]: row for row in session.dicts(QUOTES, QUOTES.c.trade_date == day, columns=columns)}
    return [{**quotes.get(row["code"], {}), **row} for row in listed]
