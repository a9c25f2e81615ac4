"""Body of the call auction (0x056a): the course of the opening auction, and the outcome of the closing one.

The world decides where an auction ends. How it came there is drawn here: matched volume grows, the price goes
from the last close to the open, and a queue of buyers or sellers stays unmatched.
"""

import struct
from datetime import datetime, time

import numpy as np

from core.arrays import Floats
from simulated_market.tdx.encoding import NO_DATA, u16
from simulated_market.tdx.state import RequestView, lots
from simulated_market.world import draws
from simulated_market.world.draws import Stream
from simulated_market.world.model import PRICE_UNIT, Quote, Security, Ticks

BEGIN, END = time(9, 15), time(9, 25)
_BEGIN_MINUTE, _END_MINUTE, _CLOSE_MINUTE = 555, 565, 900
_EVERY_S = 15
_STEPS = 600 // _EVERY_S
_SIDE = 2
_TICK = PRICE_UNIT // 100
_FOLLOWS = 0.85
"""How often the queue is on the side that the price went to."""


def auction(view: RequestView, security: Security) -> bytes:
    """Records `<HfIiBB`: minutes, price, matched lots, unmatched lots (buyers positive), 0, second."""
    today = view.today
    day = datetime(today // 10_000, today // 100 % 100, today % 100) if today else view.now
    if view.now < datetime.combine(day, BEGIN):
        return NO_DATA
    settled = max(view.now, datetime.combine(day, END))
    ticks = view.world.ticks(security, today, settled)
    quote = view.world.quote(security, settled)
    if ticks is None or quote is None:
        return NO_DATA
    records = _opening(security, ticks, quote, today, view.now)
    closing = np.flatnonzero((ticks.side == _SIDE) & (ticks.minute == _CLOSE_MINUTE))
    records += [_record(900, 0, int(ticks.price[at]), int(ticks.volume[at]), 0, security) for at in closing]
    return u16(len(records)) + b"".join(records)


def _opening(security: Security, ticks: Ticks, quote: Quote, day: int, now: datetime) -> list[bytes]:
    found = np.flatnonzero((ticks.side == _SIDE) & (ticks.minute == _END_MINUTE))
    if not len(found):
        return []
    last, volume = int(ticks.price[found[0]]), int(ticks.volume[found[0]])
    # Named by the code, so that an auction is the same for all requests, in any order.
    raw = draws.raw(int(security.code), Stream.AUCTION, day, 4 * (_STEPS + 2))
    u = draws.uniform(raw)
    queue = _queue(u[:4], last, volume, quote)
    records = []
    for step in range(_STEPS + 1):
        minute, second = _BEGIN_MINUTE + step * _EVERY_S // 60, step * _EVERY_S % 60
        if (minute, second) > (now.hour * 60 + now.minute, now.second):
            break
        way = step / _STEPS
        drawn = quote.preclose + (last - quote.preclose) * (0.4 + 0.6 * way)
        drawn += (u[4 + step] - 0.5) * 0.01 * quote.preclose * (1 - way)
        price = last if step == _STEPS else _within(round(drawn / _TICK) * _TICK, quote)
        matched = volume if step == _STEPS else int(volume * (0.08 + 0.92 * way**2))
        records.append(_record(minute, second, price, matched, int(queue * (0.5 + 0.5 * way)), security))
    return records


def _queue(u: Floats, last: int, volume: int, quote: Quote) -> int:
    """Shares that stay unmatched: a long queue at a limit, else a part of what was matched."""
    if quote.limit_up is not None and last >= quote.limit_up:
        return int(volume * (1.5 + 5 * u[0]))
    if quote.limit_down is not None and last <= quote.limit_down:
        return -int(volume * (1.5 + 5 * u[0]))
    side = 1 if last >= quote.preclose else -1
    return int(volume * (0.05 + 0.4 * u[0])) * (side if u[1] < _FOLLOWS else -side)


def _within(price: int, quote: Quote) -> int:
    low = quote.limit_down if quote.limit_down is not None else _TICK
    return max(low, price if quote.limit_up is None else min(price, quote.limit_up))


def _record(minute: int, second: int, price: int, matched: int, unmatched: int, security: Security) -> bytes:
    side = -1 if unmatched < 0 else 1
    return struct.pack(
        "<HfIiBB",
        minute,
        price / PRICE_UNIT,
        lots(matched, security),
        side * lots(abs(unmatched), security),
        0,
        second,
    )
