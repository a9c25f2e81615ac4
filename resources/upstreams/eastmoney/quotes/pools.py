"""Limit pools (push2ex): stocks at a price limit, that touched it, or were at it the trade date before.

Prices times 1000, times whole HHMMSS numbers, money CNY; `tshare` is the total market cap, whatever its
name says. The service falls back to its newest date when it has nothing of the one asked for: an answer
whose `qdate` is another date is refused. rc 102, or an empty pool, truly means none.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.quotes.envelope import data_of, symbol_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    list_of,
    number,
    object_of,
    quoted_limits,
    required,
    whole,
)
from resources.upstreams.parsing.rows import Field, may, needed, text_of, text_or_none, values_of

# Not a secret: every visitor's browser sends it.
TOPIC_TOKEN = "7eea3edcaed734bea9cbfc24409ed989"  # noqa: S105
_MOST_ROWS = 10_000
_PRICE_UNIT = 0.001

POOL_COLUMNS: dict[str, str] = {
    **texts("trade_date pool symbol code name"),
    **numbers("price limit_price change_pct amount float_market_cap total_market_cap turnover_pct"),
    **numbers("amplitude_pct seal_fund break_times limit_days"),
    **texts("first_seal_time last_seal_time zt_stat industry"),
}


def pool_request(pool: str, day: str) -> Request:
    """All of one pool on one date. InputError for a pool that does not exist."""
    known = POOLS.get(pool)
    if known is None:
        raise InputError("pool", f"{pool!r} is none of {', '.join(POOLS)}")
    params = pairs(
        f"ut={TOPIC_TOKEN}&dpt=wz.ztzt&Pageindex=0&pagesize={_MOST_ROWS}&sort={known.sort}"
        f"&date={day.replace('-', '')}"
    )
    return Request("eastmoney.push2ex", "limit_pool", f"/{known.endpoint}", params, label=f"{pool} {day}")


def parse_pool(body: bytes, pool: str, day: str) -> pd.DataFrame:
    """Columns `POOL_COLUMNS`; fields that a pool does not have are missing. PayloadError for another date,
    fewer (or more) rows than the answer's own count; a row that fails validation is left out as rejected."""
    what = f"{pool} pool"
    data = data_of(body, what)
    if data is None:
        return frame([], POOL_COLUMNS)
    raws = list_of(data.get("pool"), f"{what} pool")
    total = whole(number(data.get("tc"), f"{what} tc"), f"{what} tc")
    if len(raws) != total:
        raise PayloadError(f"{what}: {len(raws)} of {total} rows")
    stated = iso_day(str(data.get("qdate")), f"{what} qdate")
    if raws and stated != day:
        raise PayloadError(f"{what}: answered for {stated}, asked was {day}")
    # Some pools end with a row of no security.
    named = [raw for raw in raws if not (isinstance(raw, dict) and raw.get("c") == "")]
    rows = accepted_rows(
        named, lambda raw: _row(object_of(raw, f"{what} row"), pool, day), what, named_by("c")
    )
    return once_each(frame(rows, POOL_COLUMNS), ["symbol"], what)


def _row(raw: dict[str, Any], pool: str, day: str) -> dict[str, Any]:
    known = POOLS[pool]
    symbol = symbol_of(raw.get("c"), raw.get("m"), f"{pool} pool")
    what = f"{pool} pool {symbol}"
    row: dict[str, Any] = {
        "trade_date": day,
        "pool": pool,
        "symbol": symbol,
        "code": symbol[2:],
        "limit_price": math.nan,
        "limit_days": math.nan,
        **values_of(raw, (*_ALWAYS, *known.fields), what),
    }
    if "limit_days" in {field.column for field in known.fields}:
        # Every stock of the pool has a board: 0 is a streak that is not counted yet.
        row["limit_days"] = max(1.0, required(row["limit_days"], f"{what} boards"))
    if row["float_market_cap"] > row["total_market_cap"] * 1.01:
        raise PayloadError(
            f"{what}: float cap {row['float_market_cap']} above total {row['total_market_cap']}"
        )
    if pool == "broken" and row["price"] > row["limit_price"] + _PRICE_UNIT:
        raise PayloadError(f"{what}: price {row['price']} above its limit {row['limit_price']}")
    return row


def _price(value: Any, what: str) -> float:
    found = required(number(value, what, digits=3, scale=_PRICE_UNIT), what)
    if found <= 0:
        raise PayloadError(f"{what} is not above zero: {value!r}")
    return found


def _limit(value: Any, what: str) -> float:
    """A limit price; missing where the stock has none that day."""
    return quoted_limits(_price(value, what), math.nan, math.nan)[0]


def amount_pct(value: Any, what: str) -> float:
    """A percentage that cannot be below zero."""
    found = number(value, what)
    if found < 0:
        raise PayloadError(f"{what} is below zero: {value!r}")
    return found


def clock_time(value: Any, what: str) -> str | None:
    """`HH:MM:SS` of a whole number HHMMSS (92500); 0 = never."""
    found = whole(number(value, what), what)
    if found == 0:
        return None
    hour, minute, second = found // 10_000, found // 100 % 100, found % 100
    if not (9 <= hour <= 15 and minute < 60 and second < 60):
        raise PayloadError(f"{what} is no time of a session: {value!r}")
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def _streak(value: Any, what: str) -> str | None:
    """`N天M板`; None where the stock had no board lately."""
    held = object_of(value, what)
    days, boards = (
        whole(number(held.get(name), f"{what} {name}"), f"{what} {name}") for name in ("days", "ct")
    )
    if not 0 <= boards <= days <= 1000:
        raise PayloadError(f"{what}: {boards} boards in {days} days")
    return f"{days}天{boards}板" if boards else None


def _pieces(value: Any, what: str) -> float:
    """A count of zero or more."""
    return float(whole(amount_pct(value, what), what))


_ALWAYS = (
    *may(text_of, n="name"),
    *may(_price, p="price"),
    *may(needed(number), zdp="change_pct"),
    *may(amount, amount="amount"),
    *may(partial(amount, scale=1e-4), ltsz="float_market_cap", tshare="total_market_cap"),
    *may(amount_pct, hs="turnover_pct"),
    *may(text_or_none, hybk="industry"),
)
_STREAK = may(_streak, zttj="zt_stat")
_OFF_THE_LIMIT = (*may(_limit, ztp="limit_price"), *may(amount_pct, zf="amplitude_pct"), *_STREAK)


@dataclass(frozen=True)
class _Pool:
    """How one pool is asked, and the fields that not every pool has."""

    endpoint: str
    sort: str
    fields: tuple[Field, ...]


POOLS: Mapping[str, _Pool] = {
    "up": _Pool(
        "getTopicZTPool",
        "fbt:asc",
        (
            *may(clock_time, fbt="first_seal_time", lbt="last_seal_time"),
            *may(amount, fund="seal_fund"),
            *may(_pieces, zbc="break_times", lbc="limit_days"),
            *_STREAK,
        ),
    ),
    "broken": _Pool(
        "getTopicZBPool",
        "fbt:asc",
        (*may(clock_time, fbt="first_seal_time"), *may(_pieces, zbc="break_times"), *_OFF_THE_LIMIT),
    ),
    "down": _Pool(
        "getTopicDTPool",
        "fund:asc",
        (
            *may(clock_time, lbt="last_seal_time"),
            *may(amount, fund="seal_fund"),
            *may(_pieces, oc="break_times", days="limit_days"),
        ),
    ),
    # First seal and boards of the trade date before.
    "prev": _Pool(
        "getYesterdayZTPool",
        "zs:desc",
        (*may(clock_time, yfbt="first_seal_time"), *may(_pieces, ylbc="limit_days"), *_OFF_THE_LIMIT),
    ),
    "strong": _Pool("getTopicQSPool", "zdp:desc", (*may(_limit, ztp="limit_price"), *_STREAK)),
}
