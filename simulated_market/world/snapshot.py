"""The whole market at one minute: running bars, order book, both sides of the volume. One pass for all."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Ints
from simulated_market.world import draws
from simulated_market.world.draws import Stream
from simulated_market.world.intraday import DayRow, Paths

LEVELS = 5


@dataclass(frozen=True)
class Running:
    """Bars so far, ticks, shares and fen; one entry an instrument."""

    open: Ints
    high: Ints
    low: Ints
    close: Ints
    volume: Ints
    amount: Ints
    inner: Ints
    before: Ints  # price five minutes ago
    auction_amount: Ints


@dataclass(frozen=True)
class Book:
    """[instrument, level] in ticks and shares; a volume of 0 = no such level."""

    bid: Ints
    bid_volume: Ints
    ask: Ints
    ask_volume: Ints


def auction_amount(rows: DayRow, path: Paths) -> Ints:
    """Fen of the opening auction, all at the opening price, never more than the first minute's."""
    first = path.volume[:, 0]
    even = (path.amount[:, 0] * (path.auction / np.maximum(first, 1))).astype(np.int64)  # of an index
    exact: Ints = path.auction * rows.open * rows.unit // 100
    is_price = (rows.amount * 100 >= rows.low * rows.volume * rows.unit) & (exact <= path.amount[:, 0])
    return np.where(is_price, exact, even)


def running(rows: DayRow, path: Paths, minutes: int) -> Running:
    """State after `minutes` full minutes; 0 = the opening auction alone."""
    first_amount = auction_amount(rows, path)
    if minutes == 0:
        return Running(
            rows.open, rows.open, rows.open, rows.open, path.auction, first_amount,
            path.auction // 2, rows.preclose, first_amount,
        )  # fmt: skip
    price = path.price[:, :minutes]
    volume = path.volume[:, :minutes]
    falling = price < path.open[:, :minutes]
    rising = price > path.open[:, :minutes]
    total = volume.sum(axis=1)
    inner = (volume * falling).sum(axis=1) * 2 // 3 + (volume * rising).sum(axis=1) // 3
    inner += (volume * ~(falling | rising)).sum(axis=1) // 2
    before = path.price[:, minutes - 6] if minutes > 5 else rows.open
    return Running(
        rows.open,
        np.maximum(path.high[:, :minutes].max(axis=1), rows.open),
        np.minimum(path.low[:, :minutes].min(axis=1), rows.open),
        price[:, -1].copy(),
        total,
        path.amount[:, :minutes].sum(axis=1),
        inner,
        before.copy(),
        first_amount,
    )


def book(seed: int, day: int, minutes: int, rows: DayRow, price: Ints, floating: Ints) -> Book:
    """Five levels around the last price, within the limits. A sealed stock has one side only, with the
    queue on the first level."""
    n = len(price)
    raw = draws.raw(seed, Stream.BOOK, day * 256 + minutes, n * 12).reshape(n, 12)
    size = draws.exponential(raw[:, :10].reshape(-1)).reshape(n, 10)
    usual = np.maximum(rows.volume / 240.0 / 4, 200.0)
    shares = (
        np.maximum((size * usual[:, None]).astype(np.int64) // rows.step[:, None], 1) * rows.step[:, None]
    )
    steps = np.arange(LEVELS)
    aggressor = (raw[:, 10] >> np.uint64(63)).astype(np.int64)  # last trade at the bid or at the ask
    at_up = (rows.limit_up > 0) & (price >= rows.limit_up)
    at_down = (rows.limit_down > 0) & (price <= rows.limit_down)
    best_bid = np.where(at_up, price, price - aggressor)
    bid = best_bid[:, None] - steps
    ask = np.where(at_down, price, best_bid + 1)[:, None] + steps
    bid_volume, ask_volume = shares[:, :LEVELS].copy(), shares[:, LEVELS:].copy()
    floor = np.maximum(rows.limit_down, 1)[:, None]
    ceiling = np.where(rows.limit_up > 0, rows.limit_up, np.iinfo(np.int64).max)[:, None]
    queue = np.maximum((floating * (0.002 + 0.01 * draws.uniform(raw[:, 11]))).astype(np.int64), 100)
    queue = queue // rows.step * rows.step
    bid_volume[:, 0] = np.where(at_up, queue, bid_volume[:, 0])
    ask_volume[:, 0] = np.where(at_down, queue, ask_volume[:, 0])
    bid_volume *= (bid >= floor) & ~at_down[:, None]
    ask_volume *= (ask <= ceiling) & ~at_up[:, None]
    return Book(bid, bid_volume, ask, ask_volume)
