"""push2ex: intraday anomalies of the session, newest first, 64 a page.

They follow from the minutes of each stock: seals and breaks of a limit, jumps of five minutes, the largest
deal, and an opening on the other side of the average of five days. Before the first price of a day, and on a
day without trading, the list is empty. A world without minutes has the openings alone.
"""

import numpy as np

from core.arrays import Ints
from simulated_market.eastmoney.envelope import market_of
from simulated_market.limits import LimitBook, LimitState, clock_within, newest_session
from simulated_market.wire import HttpRequest, Reply, Row, View, json_reply
from simulated_market.world.dates import number_of
from simulated_market.world.model import PRICE_UNIT, Minutes

_RT = 105
_OPENING = 92_504
_JUMP, _JUMP_MINUTES = 0.03, 5
_LARGE = 8.0
"""Times the mean of its minutes that a large deal has."""


def page(book: LimitBook, request: HttpRequest, view: View) -> Reply:
    """A page of the events of the types that are asked for."""
    params = request.params()
    requested = {int(one) for one in params.get("type", "").split(",") if one.isdigit()}
    rows = [row for row in _rows(book, view) if row["t"] in requested]
    size, number = max(1, int(params.get("pagesize", "64"))), max(0, int(params.get("pageindex", "0"))) + 1
    data = {"tc": len(rows), "allstock": view.page(rows, size, number)}
    document = {"rc": 0, "rt": _RT, "svr": 181734952, "lt": 1, "full": 0, "data": data}
    return json_reply(document, params.get("cb"), "application/javascript; charset=UTF-8")


def _rows(book: LimitBook, view: View) -> list[Row]:
    day = newest_session(view)
    if day != number_of(view.now):
        return []
    rows = [row for one in book.of_date(view, day) for row in events(one)]
    return sorted(rows, key=lambda row: (-row["tm"], row["c"], row["t"]))


def events(one: LimitState) -> list[Row]:
    """What happened to one stock, in no order."""
    found = _opening(one)
    minutes = one.minutes
    if minutes is not None and len(minutes.minute):
        found += _limits(one, minutes) + _jumps(one, minutes) + _largest(one, minutes)
    head = {"c": one.security.code, "m": market_of(one.security), "n": one.name}
    return [{"tm": tm, **head, "t": kind, "i": info} for tm, kind, info in found]


Event = tuple[int, int, str]


def _opening(one: LimitState) -> list[Event]:
    closes = one.bars.close[one.bars.traded][:-1][-5:]
    if len(closes) < 5 or not one.quote.preclose:
        return []
    mean, before, opened = float(closes.mean()), one.quote.preclose, one.quote.open
    kind = 8209 if before <= mean < opened else 8210 if before >= mean > opened else 0
    ratio = _ratio(opened / before - 1)
    return [(_OPENING, kind, f"{ratio},{_price(opened)},{ratio}")] if kind else []


def _limits(one: LimitState, minutes: Minutes) -> list[Event]:
    """Every seal and every break of a limit; what the parts of its text mean is not documented."""
    found = []
    for limit, sealed_kind, broken_kind in ((one.quote.limit_up, 4, 16), (one.quote.limit_down, 8, 32)):
        if limit is None:
            continue
        sealed = minutes.price == limit
        before = np.concatenate([[int(minutes.open[0]) == limit], sealed[:-1]])
        for kind, at in ((sealed_kind, sealed & ~before), (broken_kind, before & ~sealed)):
            for place in np.flatnonzero(at).tolist():
                price = int(minutes.price[place])
                text = f"{_price(price)},{int(minutes.volume[place])},{_price(price)},{_change(one, price)}"
                found.append((_time(one, minutes.minute, place), kind, text))
    return found


def _jumps(one: LimitState, minutes: Minutes) -> list[Event]:
    """The first time that the price rose, and fell, so much within five minutes."""
    ahead, behind = minutes.price[_JUMP_MINUTES:], minutes.price[:-_JUMP_MINUTES]
    if not len(ahead):
        return []
    moves = ahead / behind - 1
    found = []
    for kind, at in ((8201, moves >= _JUMP), (8203, moves <= -_JUMP)):
        places = np.flatnonzero(at)
        if len(places):
            place = int(places[0])
            price = int(ahead[place])
            text = f"{_ratio(float(moves[place]))},{_price(price)},{_change(one, price)}"
            found.append((_time(one, minutes.minute, place + _JUMP_MINUTES), kind, text))
    return found


def _largest(one: LimitState, minutes: Minutes) -> list[Event]:
    """The busiest minute, when its volume is large enough."""
    place = int(minutes.volume.argmax())
    volume, price = int(minutes.volume[place]), int(minutes.price[place])
    if volume < _LARGE * float(minutes.volume.mean()) or not volume:
        return []
    kind = 8193 if price >= int(minutes.open[place]) else 8194
    text = f"{volume},{_price(price)},{_change(one, price)},{minutes.amount[place]:.2f}"
    return [(_time(one, minutes.minute, place), kind, text)]


def _time(one: LimitState, minute: Ints, place: int) -> int:
    return clock_within(int(minute[place]), f"{one.security.symbol}{one.quote.date}")


def _price(value: int) -> str:
    return f"{value / PRICE_UNIT:.5f}"


def _ratio(value: float) -> str:
    return f"{value:.6f}"


def _change(one: LimitState, price: int) -> str:
    return _ratio(price / one.quote.preclose - 1 if one.quote.preclose else 0.0)
