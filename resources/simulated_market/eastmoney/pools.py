"""push2ex: the limit pools. Prices times 1000, times HHMMSS, `tshare` the total market cap.

Asked for a date to come, or for today before there are prices, it falls back to its newest session and
says so in `qdate` alone. Sessions more than thirty ago are not served.
"""

from typing import Any

from resources.simulated_market.eastmoney.envelope import market_of
from resources.simulated_market.limits import LimitBook, LimitState, newest_session, sessions_before
from resources.simulated_market.wire import HttpRequest, Reply, View, json_reply
from resources.simulated_market.world.model import PRICE_UNIT

KEPT = 30
_NO_LIMIT = 1_000_000_000
_NO_ROWS = 102
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

Row = dict[str, Any]


class Pools:
    """Answers of the five pools."""

    def __init__(self, book: LimitBook) -> None:
        self._book = book

    def pool(self, request: HttpRequest, view: View) -> Reply:
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
        rows = [{name: row[name] for name in _ORDER[pool].split()} for row in self._rows(view, day, pool)]
        if not rows:
            return _reply(params, None, _NO_ROWS)
        field, _, way = params.get("sort", "").partition(":")
        if field in rows[0]:
            rows.sort(key=lambda row: (row[field], row["c"]), reverse=way == "desc")
        total = len(rows)
        rows = view.cut(rows)
        size = max(1, int(params.get("pagesize", "20")))
        start = max(0, int(params.get("Pageindex", "0"))) * size
        shown = rows[start : start + size]
        return _reply(params, {"tc": total, "qdate": day, "pool": shown})

    def _rows(self, view: View, day: int, pool: str) -> list[Row]:
        if pool == "prev":
            return [prev_row(then, now) for then, now in self._book.previous(view, day)]
        render = {"up": up_row, "broken": broken_row, "down": down_row, "strong": strong_row}[pool]
        return [render(one) for one in self._book.pool(view, day, pool)]


def _head(one: LimitState) -> Row:
    total, floating = one.shares
    price = one.quote.price / PRICE_UNIT
    return {
        "c": one.security.code,
        "m": market_of(one.security),
        "n": one.name,
        "p": one.quote.price * 1000 // PRICE_UNIT,
        "zdp": one.change_pct,
        "amount": round(one.quote.amount),
        "ltsz": round(price * floating, 2),
        "tshare": round(price * total, 2),
        "hs": one.quote.turnover_pct or 0.0,
    }


def _industry(one: LimitState) -> Row:
    return {"hybk": one.security.industry[:4]}


def _streak(one: LimitState) -> Row:
    days, boards = one.streak
    return {"zttj": {"days": days, "ct": boards}}


def _limit(one: LimitState) -> int:
    limit = one.quote.limit_up
    return _NO_LIMIT if limit is None else limit * 1000 // PRICE_UNIT


def _fund(one: LimitState) -> int:
    return round(one.queue * one.quote.price / PRICE_UNIT)


def _amplitude(one: LimitState) -> float:
    return (one.quote.high - one.quote.low) / one.quote.preclose * 100


def up_row(one: LimitState) -> Row:
    seals = one.seals
    return {
        **_head(one),
        "lbc": one.boards,
        "fbt": seals.first,
        "lbt": seals.last,
        "fund": _fund(one),
        "zbc": seals.breaks,
        **_industry(one),
        **_streak(one),
    }


def broken_row(one: LimitState) -> Row:
    seals = one.seals
    return {
        **_head(one),
        "ztp": _limit(one),
        "fbt": seals.first,
        "zbc": seals.breaks,
        "zf": _amplitude(one),
        "zs": one.quote.speed_pct or 0.0,
        **_industry(one),
        **_streak(one),
    }


def down_row(one: LimitState) -> Row:
    seals = one.seals
    at_limit = 0.0
    if one.minutes is not None:
        at_limit = float(one.minutes.amount[one.minutes.price == one.quote.price].sum())
    return {
        **_head(one),
        "pe": 0.0,
        "fund": _fund(one),
        "lbt": seals.last,
        "fba": round(at_limit),
        "days": one.downs,
        "oc": seals.breaks,
        **_industry(one),
    }


def prev_row(then: LimitState, now: LimitState) -> Row:
    return {
        **_head(now),
        "ztp": _limit(now),
        "zf": _amplitude(now),
        "zs": now.quote.speed_pct or 0.0,
        "yfbt": then.seals.first,
        "ylbc": then.boards,
        **_industry(now),
        **_streak(now),
    }


def strong_row(one: LimitState) -> Row:
    several = one.streak[1] >= 2
    return {
        **_head(one),
        "ztp": _limit(one),
        "ztf": one.change_pct,
        "nh": int(one.is_high),
        "cc": 3 if several and one.is_high else 2 if several else 1,
        "lb": one.quote.volume_ratio or 0.0,
        "zs": one.quote.speed_pct or 0.0,
        **_industry(one),
        **_streak(one),
    }


def _reply(params: dict[str, str], data: Row | None, rc: int = 0) -> Reply:
    document = {"rc": rc, "rt": 110, "svr": 177618277, "lt": 1, "full": 0, "data": data}
    return json_reply(document, params.get("cb"), "application/javascript; charset=UTF-8")
