"""Bodies of minute series (0x051d, 0x0537, 0x0fb4) and transactions (0x0fc5, 0x0fb5, 0x0fc6)."""

import numpy as np

from simulated_market.tdx import quotes
from simulated_market.tdx.encoding import NO_DATA, float32, u16, varint, varints
from simulated_market.tdx.state import RequestView, lot_steps, scaled
from simulated_market.world.model import PRICE_UNIT, Security

PAGE_TODAY = 1800
PAGE_HISTORY = 2000
NOTHING_DATED = bytes(6)
_HEAD_LEVELS = 3


def minutes_of(view: RequestView, security: Security, date: int) -> bytes:
    """0x0fb4: count, last close, rows."""
    path = view.world.minutes(security, date, view.now)
    if path is None or len(path.minute) == 0:
        return NOTHING_DATED
    rows = _minute_rows(view, security, date)
    return u16(len(rows)) + float32(_last_close(view, security, date)) + b"".join(rows)


def minutes_today(view: RequestView, market: int, security: Security, *, quote_head: bool) -> bytes:
    """0x051d, with the quote head of today's servers or without it (as up to about 2019)."""
    rows = _minute_rows(view, security, view.today)
    if not rows:
        return NO_DATA
    top = b""
    if quote_head:
        quote = view.world.quote(security, view.now)
        if quote is None:
            return NO_DATA
        top = quotes.head(view, market, security, quote, _HEAD_LEVELS)
    return u16(len(rows), 0) + top + b"".join(rows)


def _minute_rows(view: RequestView, security: Security, date: int) -> list[bytes]:
    path = view.world.minutes(security, date, view.now)
    if path is None:
        return []
    out, last = [], 0
    steps = lot_steps(path.volume.tolist(), security)
    for price, volume in zip(path.price.tolist(), steps, strict=True):
        wire = scaled(price, security.decimals)
        out.append(varints(wire - last, 0, volume))
        last = wire
    return view.series(out)


def averages_today(view: RequestView, security: Security) -> bytes:
    """0x0537: price, average (two decimals more) and volume; later rows as differences to the first."""
    path = view.world.minutes(security, view.today, view.now)
    if path is None or len(path.minute) == 0:
        return NO_DATA
    scale = 10**security.decimals
    shares, money = np.cumsum(path.volume), np.cumsum(path.amount)
    prices = [scaled(price, security.decimals) for price in path.price.tolist()]
    averages = [
        round(amount / volume * scale * 100) if volume else price * 100
        for price, volume, amount in zip(prices, shares.tolist(), money.tolist(), strict=True)
    ]
    body = u16(len(prices), 0)
    for at, volume in enumerate(lot_steps(path.volume.tolist(), security)):
        base_price, base_average = (prices[0], averages[0]) if at else (0, 0)
        body += varints(prices[at] - base_price, averages[at] - base_average, volume)
    return body


def transactions(
    view: RequestView, security: Security, date: int | None, start: int, count: int, *, orders: bool
) -> bytes:
    """A page that ends `start` transactions before the newest one. `date` None: today (0x0fc5)."""
    ticks = view.world.ticks(security, date or view.today, view.now)
    nothing = NO_DATA if date is None else NOTHING_DATED
    if ticks is None:
        return nothing
    prices = [scaled(price, security.decimals) for price in ticks.price.tolist()]
    steps = lot_steps(ticks.volume.tolist(), security)
    counts = (ticks.orders.tolist(), ticks.side.tolist())
    rows = view.series(list(zip(ticks.minute.tolist(), prices, steps, *counts, strict=True)))
    stop = max(0, len(rows) - start)
    page = rows[max(0, stop - min(count, PAGE_TODAY if date is None else PAGE_HISTORY)) : stop]
    if not page:
        return nothing
    body = bytearray(u16(len(page)))
    if date is not None:
        body += float32(_last_close(view, security, date))
    last = 0
    for minute, price, volume, number, side in page:
        body += u16(minute) + varints(price - last, volume)
        last = price
        if date is None:
            body += varints(number, side, 0)
        elif orders:
            body += varint(number) + u16(side)
        else:
            body += varints(side, 0)
    return bytes(body)


def _last_close(view: RequestView, security: Security, date: int) -> float:
    bars = view.world.bars(security, view.now)
    at = int(np.searchsorted(bars.date, date))
    return int(bars.preclose[at]) / PRICE_UNIT if at < len(bars) and bars.date[at] == date else 0.0
