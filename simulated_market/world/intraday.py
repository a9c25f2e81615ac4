"""Minute paths that aggregate exactly to the daily bar: a function of (seed, date, instrument) on demand.

A path is a bridge from open to close whose excursions are stretched to the day's high and low; sealed
days reach their limit at a drawn time and leave it for drawn breaks. Volumes follow a U shape and are
tilted so that the sum of minute amounts is the day's amount with every minute's mean inside its range.
"""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints
from simulated_market.world import draws
from simulated_market.world.draws import Stream

MINUTES: Ints = np.concatenate([np.arange(571, 691), np.arange(781, 901)]).astype(np.int64)
COUNT = len(MINUTES)
_BLOCK = 512  # raw numbers a path may use
_QUIET = slice(COUNT - 3, COUNT - 1)  # 14:58 and 14:59: the closing auction gathers orders, nothing trades
# Share of first seals by time of day (limit_up_pool): to 09:35, 10:00, 11:30, 14:00, 15:00.
_SEAL_SHARES = np.asarray([0.0, 0.19, 0.47, 0.77, 0.94, 1.0])
_SEAL_MINUTES = np.asarray([0.0, 5.0, 30.0, 120.0, 180.0, 236.0])


@dataclass(frozen=True)
class DayRow:
    """Daily bars of some instruments on one date, ticks; `place` is each one's index in the world."""

    place: Ints
    open: Ints
    high: Ints
    low: Ints
    close: Ints
    preclose: Ints
    volume: Ints
    amount: Ints  # fen
    limit_up: Ints  # 0 = none
    limit_down: Ints
    unit: Ints  # 1e-4 CNY a tick
    step: Ints  # volume step in shares


@dataclass(frozen=True)
class Paths:
    """[instrument, minute] in ticks, shares and fen; `auction` = shares of the opening auction."""

    price: Ints
    open: Ints
    high: Ints
    low: Ints
    volume: Ints
    amount: Ints
    auction: Ints


def paths(seed: int, day: int, rows: DayRow) -> Paths:
    """Paths of all rows; each row's result does not depend on which others are asked for."""
    raw = _numbers(seed, day, rows.place)
    last = _prices(raw, rows)
    first = np.concatenate([rows.open[:, None], last[:, :-1]], axis=1)
    high, low = _ranges(raw, rows, first, last)
    volume, amount = _fit_amounts(rows, (first, high, low, last), _weights(raw))
    share = 0.15 + 0.5 * draws.uniform(raw[:, 500])
    auction = np.maximum((volume[:, 0] * share).astype(np.int64) // rows.step * rows.step, 0)
    flat = (rows.high == rows.low) & (volume[:, 0] > 0)
    auction = np.where(
        flat | (auction == 0), np.minimum(volume[:, 0], np.maximum(auction, rows.step)), auction
    )
    return Paths(last, first, high, low, volume, amount, auction)


def _numbers(seed: int, day: int, place: Ints) -> draws.Raw:
    if len(place) and int(place[-1]) - int(place[0]) == len(place) - 1:
        start = int(place[0]) * _BLOCK
        return draws.raw(seed, Stream.MINUTE, day, len(place) * _BLOCK, start).reshape(len(place), _BLOCK)
    out = np.empty((len(place), _BLOCK), dtype=np.uint64)
    for at, index in enumerate(place.tolist()):
        out[at] = draws.raw(seed, Stream.MINUTE, day, _BLOCK, index * _BLOCK)
    return out


def _prices(raw: draws.Raw, rows: DayRow) -> Ints:
    """Last price of each minute: ends at close, touches high and low when a minute's last price can."""
    o, c = rows.open.astype(np.float64)[:, None], rows.close.astype(np.float64)[:, None]
    h, low = rows.high.astype(np.float64)[:, None], rows.low.astype(np.float64)[:, None]
    steps = draws.normal(raw[:, :COUNT])
    steps[:, _QUIET] = 0.0
    walk = np.cumsum(steps, axis=1)
    at = np.arange(1, COUNT + 1) / COUNT
    bridge = walk - at * walk[:, -1:]
    path = o + (c - o) * at + bridge * (h - low) / 28.0
    top, bottom = np.maximum(o, c), np.minimum(o, c)
    over = np.maximum(path - top, 0.0)
    under = np.maximum(bottom - path, 0.0)
    over *= np.where(
        over.max(axis=1, keepdims=True) > 0, (h - top) / np.maximum(over.max(axis=1, keepdims=True), 1e-9), 0
    )
    peak = under.max(axis=1, keepdims=True)
    under *= np.where(peak > 0, (bottom - low) / np.maximum(peak, 1e-9), 0)
    path = np.clip(path, bottom, top) + over - under
    last = np.clip(np.floor(path + 0.5), low, h).astype(np.int64)
    _seal(raw, rows, last)
    last[:, _QUIET] = last[:, COUNT - 4][:, None]
    last[:, -1] = rows.close
    return last


def _seal(raw: draws.Raw, rows: DayRow, last: Ints) -> None:
    """Days that close at a limit stay there from the first seal on, but for some breaks."""
    for limit, sign in ((rows.limit_up, -1), (rows.limit_down, 1)):
        sealed = np.flatnonzero((limit > 0) & (rows.close == limit) & (rows.high > rows.low))
        for k in sealed.tolist():
            u = draws.uniform(raw[k, 480:512])
            # At the open it is sealed from the auction on; the low then belongs to a break.
            at_open = rows.open[k] == limit[k]
            start = 0 if at_open else max(int(np.interp(u[0], _SEAL_SHARES, _SEAL_MINUTES)), 2)
            inner = last[k, :start]
            np.clip(inner, int(rows.low[k]) + (sign > 0), int(rows.high[k]) - (sign < 0), out=inner)
            last[k, start:] = limit[k]
            breaks = int(u[1] < 0.55 or at_open) * (1 + int(u[2] ** 3 * 9))
            for b in range(min(breaks, 8)):
                room = COUNT - 6 - start
                if room > 12:
                    begin = start + 2 + int(u[4 + b] * (room - 8))
                    depth = 1 + int(u[12 + b] * 0.3 * abs(int(rows.high[k]) - int(rows.low[k])))
                    last[k, begin : begin + 1 + int(u[20 + b] * 5)] = int(limit[k]) + sign * depth


def _ranges(raw: draws.Raw, rows: DayRow, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """High and low of each minute; the day's extremes are reached at least once."""
    lift = (raw[:, COUNT : 2 * COUNT] >> np.uint64(61)).astype(np.int64)
    spread = np.maximum((rows.high - rows.low) // 160, 0)[:, None]
    high = np.minimum(np.maximum(first, last) + spread * (lift & 1), rows.high[:, None])
    low = np.maximum(np.minimum(first, last) - spread * (lift >> 1 & 1), rows.low[:, None])
    high[:, _QUIET], low[:, _QUIET] = last[:, _QUIET], last[:, _QUIET]
    k = np.arange(len(last))
    trading = COUNT - 3
    nearest_top = np.argmax(high[:, :trading], axis=1)
    nearest_bottom = np.argmin(low[:, :trading], axis=1)
    high[k, nearest_top] = np.where(high.max(axis=1) < rows.high, rows.high, high[k, nearest_top])
    low[k, nearest_bottom] = np.where(low.min(axis=1) > rows.low, rows.low, low[k, nearest_bottom])
    return high, low


def _weights(raw: draws.Raw) -> Floats:
    """Weights of the minutes: heavy at the open, a little at 13:01 and 15:00, none in the last auction."""
    t = np.arange(COUNT, dtype=np.float64)
    shape = 0.55 + 2.2 * np.exp(-t / 14) + 0.5 * np.exp(-np.abs(t - 120) / 8) + 0.6 * np.exp(-(236 - t) / 18)
    shape[0], shape[-1], shape[_QUIET] = 5.0, 3.0, 0.0
    return shape * (0.35 + 1.3 * draws.uniform(raw[:, COUNT : 2 * COUNT]))


def _fit_amounts(rows: DayRow, bars: tuple[Ints, Ints, Ints, Ints], weight: Floats) -> tuple[Ints, Ints]:
    """Whole shares and fen that sum to the day's, each minute's mean price within its range."""
    first, high, low, last = bars
    scale = rows.unit / 100  # fen a tick
    mean = (first + last + high + low) / 4.0
    value = rows.volume * rows.unit
    # An index level is no price: its amount is spread like its volume.
    level = (rows.amount * 100 < rows.low * value) | (rows.amount * 100 > rows.high * value)
    requested = rows.amount / np.maximum(rows.volume, 1) / scale
    requested = np.where(level, (weight * mean).sum(axis=1) / weight.sum(axis=1), requested)
    weight = _tilt(weight, mean, requested, np.maximum(rows.high - rows.low, 1).astype(np.float64))
    lots = rows.volume // rows.step
    share = np.cumsum(weight, axis=1)
    edges = np.floor(share / share[:, -1:] * lots[:, None] + 0.5).astype(np.int64)
    volume = np.diff(edges, axis=1, prepend=0) * rows.step[:, None]
    volume[:, -1] += rows.volume - volume.sum(axis=1)
    done = np.cumsum(volume, axis=1) / np.maximum(rows.volume, 1)[:, None]
    even = np.diff(np.floor(done * rows.amount[:, None]).astype(np.int64), axis=1, prepend=0)
    even[:, -1] += rows.amount - even.sum(axis=1)
    floor = -(-low * volume * rows.unit[:, None] // 100)
    ceiling = high * volume * rows.unit[:, None] // 100
    amount = np.clip(np.rint(mean * volume * scale[:, None]).astype(np.int64), floor, ceiling)
    _spread_rest(rows.amount - amount.sum(axis=1), amount, (floor, ceiling))
    left = np.where(level, 0, rows.amount - amount.sum(axis=1))
    if left.any():  # minute ranges cannot hold it: widen to the day's range, which always can
        floor = -(-rows.low[:, None] * volume * rows.unit[:, None] // 100)
        ceiling = rows.high[:, None] * volume * rows.unit[:, None] // 100
        _spread_rest(left, amount, (floor, ceiling))
    return volume, np.where(level[:, None], even, amount)


def _tilt(weight: Floats, mean: Floats, requested: Floats, span: Floats) -> Floats:
    """Exponential tilt of the weights until their mean price is the required one: Newton for nearly all,
    bisection for the rows where it overshoots."""
    x = (mean - requested[:, None]) / span[:, None]
    force = np.zeros(len(requested))
    for _ in range(5):
        _, average, spread = _tilted(weight, x, force)
        force = np.clip(force - average / np.maximum(spread, 1e-6), -60.0, 60.0)
    tilted, average, _ = _tilted(weight, x, force)
    rough = np.flatnonzero(np.abs(average) > 1e-4)
    if len(rough):
        low, high = np.full(len(rough), -400.0), np.full(len(rough), 400.0)
        for _ in range(40):
            middle = (low + high) / 2
            over = _tilted(weight[rough], x[rough], middle)[1] > 0
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        tilted[rough] = _tilted(weight[rough], x[rough], (low + high) / 2)[0]
    return tilted


def _tilted(weight: Floats, x: Floats, force: Floats) -> tuple[Floats, Floats, Floats]:
    """(weights, mean of x, variance of x) under a force."""
    push = force[:, None] * x
    tilted = weight * np.exp(push - push.max(axis=1, keepdims=True))
    total = tilted.sum(axis=1)
    average = (tilted * x).sum(axis=1) / total
    return tilted, average, (tilted * x * x).sum(axis=1) / total - average**2


def _spread_rest(rest: Ints, amount: Ints, limits: tuple[Ints, Ints]) -> None:
    """Add `rest` to the rows of `amount` in place, minute by minute, as far as the limits allow."""
    floor, ceiling = limits
    room_up = np.cumsum(ceiling - amount, axis=1)
    room_down = np.cumsum(amount - floor, axis=1)
    up = np.diff(np.minimum(room_up, np.maximum(rest, 0)[:, None]), axis=1, prepend=0)
    down = np.diff(np.minimum(room_down, np.maximum(-rest, 0)[:, None]), axis=1, prepend=0)
    amount += up - down
