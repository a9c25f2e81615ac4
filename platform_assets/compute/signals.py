"""Signals of a day: crossings and breaks of a code's bar against the one before.

A signal is on the day of its crossing only: a condition that holds on the bar before as well is none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Floats, Ints
from core.market.bars import Bars
from platform_assets.compute.parameters import signals as parameters

COLUMNS = (
    "ma5", "ma20", "macd_dif", "macd_dea", "kdj_k", "kdj_d", "rsi6", "boll_upper", "boll_lower",
    "vol_ratio_5",
)  # fmt: skip
"""Columns of the indicators that are needed."""


@dataclass(frozen=True)
class Signal:
    """A kind of signal. `measure` is the unit of its strength."""

    key: str
    label: str
    direction: int
    measure: str


SIGNALS: tuple[Signal, ...] = (
    Signal("ma_golden_cross", "均线金叉", 1, "ma5 over ma20, percent"),
    Signal("ma_dead_cross", "均线死叉", -1, "ma5 under ma20, percent"),
    Signal("macd_golden_cross", "MACD金叉", 1, "histogram in percent of the close"),
    Signal("macd_dead_cross", "MACD死叉", -1, "histogram in percent of the close"),
    Signal("kdj_golden_cross", "KDJ低位金叉", 1, "K over D"),
    Signal("kdj_dead_cross", "KDJ高位死叉", -1, "K under D"),
    Signal("rsi6_oversold", "RSI超卖", 1, "RSI6 under its bound"),
    Signal("rsi6_overbought", "RSI超买", -1, "RSI6 over its bound"),
    Signal("boll_break_upper", "突破布林上轨", 1, "close over the band, percent"),
    Signal("boll_break_lower", "跌破布林下轨", -1, "close under the band, percent"),
    Signal("volume_surge", "放量", 0, "volume over the mean of the five bars before"),
    Signal("new_high_20", "20日新高", 1, "close over the highest high before, percent"),
    Signal("new_high_60", "60日新高", 1, "close over the highest high before, percent"),
)
BY_KEY = {signal.key: signal for signal in SIGNALS}


@dataclass(frozen=True)
class Hits:
    """Which rows have a signal: arrays [rows]. `direction` is 1, -1 or 0; `above`:
    for crossings of the MACD, whether they are above zero."""

    key: str
    hit: Bools
    direction: npt.NDArray[np.int64]
    strength: Floats
    above: Bools | None = None


@dataclass(frozen=True)
class Pair:
    """A series on some bars and on those before them, [rows]."""

    now: Floats
    before: Floats

    def __sub__(self, other: "Pair") -> "Pair":
        return Pair(self.now - other.now, self.before - other.before)


def paired(rows: Ints, first: Bools, values: Mapping[str, Floats]) -> dict[str, Pair]:
    """Pairs of every column's value on each of `rows` and on the row before; NaN before a `first` bar."""
    return {
        name: Pair(column[rows], np.where(first, np.nan, column[np.maximum(rows - 1, 0)]))
        for name, column in values.items()
    }


def is_first(bars: Bars, rows: Ints) -> Bools:
    """Which rows are the first bar of their code."""
    return np.equal(rows, bars.offsets[bars.owner[rows]], dtype=np.bool_)


def hits(bars: Bars, reported: Mapping[str, Pair], rows: Ints) -> Iterator[Hits]:
    """The signals of some rows of the bars. `reported`: the indicators `COLUMNS` on these rows, prices as
    seen on their own date."""
    prices = {"close": bars.close, "adjusted": bars.adjusted("close")}
    own = paired(rows, is_first(bars, rows), prices)
    close, adjusted = own["close"], own["adjusted"]
    rising = np.sign(np.nan_to_num(adjusted.now - adjusted.before)).astype(np.int64)
    yield from _crosses("ma", reported["ma5"] - reported["ma20"], 100 / reported["ma20"].now)
    macd = reported["macd_dif"] - reported["macd_dea"]
    yield from _crosses("macd", macd, 200 / close.now, above=reported["macd_dif"].now > 0)
    kdj = reported["kdj_k"] - reported["kdj_d"]
    low, high = reported["kdj_k"].now < parameters.KDJ_LOW, reported["kdj_k"].now > parameters.KDJ_HIGH
    yield from _crosses("kdj", kdj, np.ones(len(kdj.now)), golden=low, dead=high)
    rsi = reported["rsi6"]
    yield _over("rsi6_oversold", Pair(parameters.RSI_LOW - rsi.now, parameters.RSI_LOW - rsi.before), 1.0)
    yield _over("rsi6_overbought", Pair(rsi.now - parameters.RSI_HIGH, rsi.before - parameters.RSI_HIGH), 1.0)
    upper, lower = reported["boll_upper"], reported["boll_lower"]
    yield _over("boll_break_upper", close - upper, 100 / upper.now)
    yield _over("boll_break_lower", lower - close, 100 / lower.now)
    surge = reported["vol_ratio_5"]
    hit = (surge.now >= parameters.SURGE) & ~(surge.before >= parameters.SURGE)
    yield Hits("volume_surge", hit, rising, surge.now)
    for days in (20, 60):
        yield _over(f"new_high_{days}", *_above_highs(bars, rows, days))


def _crosses(
    name: str,
    spread: Pair,
    scale: Floats,
    *,
    golden: Bools | bool = True,
    dead: Bools | bool = True,
    above: Bools | None = None,
) -> Iterator[Hits]:
    up = (spread.now > 0) & (spread.before <= 0) & golden
    down = (spread.now < 0) & (spread.before >= 0) & dead
    size = np.abs(spread.now) * scale
    ones = np.ones(len(spread.now), dtype=np.int64)
    yield Hits(f"{name}_golden_cross", up, ones, size, above)
    yield Hits(f"{name}_dead_cross", down, -ones, size, above)


def _over(name: str, excess: Pair, scale: "float | Floats") -> Hits:
    """Above zero now, and not on the bar before (a bar before that is not known does not count as below)."""
    direction = np.full(len(excess.now), BY_KEY[name].direction, dtype=np.int64)
    return Hits(name, (excess.now > 0) & (excess.before <= 0), direction, excess.now * scale)


def _above_highs(bars: Bars, rows: Ints, days: int) -> tuple[Pair, Floats]:
    """(close less the highest high of `days` bars before, for each row and the bar before it; what makes it
    percent). Prices of both bars on the scale of the row."""
    back = rows[:, None] - np.arange(days + 1, -1, -1)[None, :]
    there = back >= bars.offsets[bars.owner[rows]][:, None]
    at = np.where(there, back, 0)
    base = bars.factor[rows][:, None]
    high = np.where(there, bars.adjusted("high")[at] / base, np.nan)
    close = np.where(there[:, -2:], bars.adjusted("close")[at[:, -2:]] / base, np.nan)
    now, before = high[:, 1:-1].max(axis=1), high[:, :-2].max(axis=1)
    return Pair(close[:, -1] - now, close[:, -2] - before), 100 / now
