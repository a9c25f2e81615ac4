"""push2ex: the limit pools. Prices times 1000, times HHMMSS, `tshare` the total market cap.

Asked for a date to come, or for today before there are prices, it falls back to its newest session and
says so in `qdate` alone. Sessions more than thirty ago are not served.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulated_market.eastmoney.envelope import market_of
from simulated_market.limits import LimitBook, LimitState, newest_session, sessions_before
from simulated_market.wire import HttpRequest, Reply, Row, View, json_reply
from simulated_market.world.model import PRICE_UNIT

KEPT = 30
_NO_LIMIT = 1_000_000_000
_NO_ROWS = 102
_EMPTY = {"c": "", "n": "", "hybk": "", "zttj": {"days": 0, "ct": 0}}
_EMPTY_EVERY = 2
"""Every so many dates a pool ends with a row of no security."""
_POOLS = {
    "getTopicZTPool": "up",
    "getTopicZBPool": "broken",
    "getTopicDTPool": "down",
    "getTopicQSPool": "strong",
    "getYesterdayZTPool": "prev",
}
_ORDER = {
    "up": "c m n p zdp amount ltsz tshare hs lbc fbt lbt fund zbc hybk zttj",
    "broken": "c m n p ztp zdp amount ltsz tshare hs fbt zbc zf zs zttj hybk",
    "down": "c m n p zdp amount ltsz tshare pe hs fund lbt fba days oc hybk",
    "strong": "c m n p ztp ztf zdp amount ltsz tshare hs nh cc lb zs zttj hybk",
    "prev": "c m n p ztp zdp amount ltsz tshare hs zf zs yfbt ylbc hybk zttj",
}
"""The fields of a row as they are on the wire."""
PATHS = "/(?:" + "|".join(_POOLS) + ")"


def page(book: LimitBook, request: HttpRequest, view: View) -> Reply:
    """All rows of a pool, sorted as asked."""
    params = request.params()
    text = params.get("date", "")
    day = int(text) if len(text) == 8 and text.isdigit() else 0
    ago = sessions_before(view, day)
    if ago is None and day > newest_session(view):
        day, ago = newest_session(view), 0
    if ago is None or ago > KEPT:
        return _reply(params, None, _NO_ROWS)
    pool = _POOLS[request.path.lstrip("/")]
    # States the session before and now; both now's but for the pool that compares the two.
    states = (
        book.previous(view, day) if pool == "prev" else [(one, one) for one in book.pool(view, day, pool)]
    )
    rows = [{name: _VALUES[name](now, then) for name in _ORDER[pool].split()} for then, now in states]
    if not rows:
        return _reply(params, None, _NO_ROWS)
    if day % _EMPTY_EVERY == 0:
        rows.append({name: _EMPTY.get(name, 0) for name in rows[0]})
    field, _, way = params.get("sort", "").partition(":")
    if field in rows[0]:
        rows.sort(key=lambda row: (row[field], row["c"]), reverse=way == "desc")
    size, number = max(1, int(params.get("pagesize", "20"))), max(0, int(params.get("Pageindex", "0"))) + 1
    return _reply(params, {"tc": len(rows), "qdate": day, "pool": view.page(rows, size, number)})


def _single(value: float) -> float:
    """A figure with the digits of the float32 that it was stored in."""
    return float(np.float32(value))


def _limit(one: LimitState) -> int:
    limit = one.quote.limit_up
    return _NO_LIMIT if limit is None else limit * 1000 // PRICE_UNIT


def _traded_at_limit(one: LimitState) -> int:
    if one.minutes is None:
        return 0
    return round(float(one.minutes.amount[one.minutes.price == one.quote.price].sum()))


def _streak(one: LimitState) -> Row:
    days, boards = one.streak
    return {"days": days, "ct": boards}


def _reason(one: LimitState) -> int:
    """1 a high, 2 several limits within some days, 3 both."""
    several = one.streak[1] >= 2
    return 3 if several and one.is_high else 2 if several else 1


_VALUES: Mapping[str, Callable[[LimitState, LimitState], Any]] = {
    "c": lambda one, _: one.security.code,
    "m": lambda one, _: market_of(one.security),
    "n": lambda one, _: one.name,
    "p": lambda one, _: one.quote.price * 1000 // PRICE_UNIT,
    "zdp": lambda one, _: _single(one.change_pct),
    "amount": lambda one, _: round(one.quote.amount),
    "ltsz": lambda one, _: one.quote.price / PRICE_UNIT * one.shares[1],
    "tshare": lambda one, _: one.quote.price / PRICE_UNIT * one.shares[0],
    "hs": lambda one, _: _single(one.quote.turnover_pct or 0.0),
    "pe": lambda one, _: 0.0,
    "lbc": lambda one, _: one.boards,
    "fbt": lambda one, _: one.seals.first,
    "lbt": lambda one, _: one.seals.last,
    "fund": lambda one, _: round(one.queue * one.quote.price / PRICE_UNIT),
    "zbc": lambda one, _: one.seals.breaks,
    "oc": lambda one, _: one.seals.breaks,
    "fba": lambda one, _: _traded_at_limit(one),
    "days": lambda one, _: one.downs,
    "ztp": lambda one, _: _limit(one),
    "ztf": lambda one, _: one.change_pct,
    "zf": lambda one, _: (one.quote.high - one.quote.low) / one.quote.preclose * 100,
    "zs": lambda one, _: one.quote.speed_pct or 0.0,
    "lb": lambda one, _: one.quote.volume_ratio or 0.0,
    "nh": lambda one, _: int(one.is_high),
    "cc": lambda one, _: _reason(one),
    "yfbt": lambda _, then: then.seals.first,
    "ylbc": lambda _, then: then.boards,
    "hybk": lambda one, _: one.security.industry[:4],
    "zttj": lambda one, _: _streak(one),
}
"""Field -> its value of the states now and the session before."""


def _reply(params: dict[str, str], data: Row | None, rc: int = 0) -> Reply:
    document = {"rc": rc, "rt": 110, "svr": 177618277, "lt": 1, "full": 0, "data": data}
    return json_reply(document, params.get("cb"), "application/javascript; charset=UTF-8")
