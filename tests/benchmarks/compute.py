"""Indicators, patterns and chips of a whole market beside TA-Lib and pandas. Times are CPU seconds of this
process: no side uses a second thread, and what else the machine does falls on none of them."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import talib

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.chips import chip_columns
from platform_assets.compute.indicators import COLUMNS, indicator_columns
from platform_assets.compute.patterns import pattern_columns
from platform_assets.compute.warm import warm
from tests.benchmarks.measure import MIB, Figure, PeakMemory, at_most, faster, timed
from tests.benchmarks.panel_data import CODES, SEED, codes

BARS, WINDOW = 250, 320
PANDAS_CODES = 150
"""groupby-apply is measured on so many codes and taken times the rest: its time is the same for each."""
SAMPLES = 5


def market(bars: int, count: int = CODES) -> Bars:
    """Random walks on the tick with ex-right days."""
    chance = np.random.Generator(np.random.Philox(SEED))
    shape = (count, bars)
    close = np.round(15 * np.exp(np.cumsum(chance.normal(0, 0.025, shape), axis=1)), 2).clip(1.0)
    open_ = np.round(close * (1 + chance.normal(0, 0.01, shape)), 2)
    high = np.round(np.maximum(open_, close) * (1 + 0.02 * chance.random(shape)), 2)
    low = np.round(np.minimum(open_, close) * (1 - 0.02 * chance.random(shape)), 2)
    volume = chance.integers(1_000, 2_000_000, shape) * 100.0
    factor = np.cumprod(np.where(chance.random(shape) < 0.004, 1.03, 1.0), axis=1)
    unknown = np.full(count * bars, np.nan)
    return Bars(
        codes=tuple(codes(count)),
        offsets=np.arange(0, (count + 1) * bars, bars),
        date=np.tile(np.arange(20250101, 20250101 + bars), count),
        open=open_.ravel(),
        high=high.ravel(),
        low=low.ravel(),
        close=close.ravel(),
        volume=volume.ravel(),
        factor=factor.ravel(),
        amount=(volume * close).ravel(),
        turnover=chance.random(count * bars) * 8,
        last_close=unknown,
        limit_up=unknown,
        limit_down=unknown,
    )


def talib_columns(high: Floats, low: Floats, close: Floats, volume: Floats) -> list[Floats]:
    """What TA-Lib has of the columns, under its own conventions, and the arithmetic between its answers."""
    mean = {n: talib.SMA(close, n) for n in (3, 5, 6, 10, 12, 20, 24, 30, 60, 120, 250)}
    made = [mean[n] for n in (5, 10, 20, 30, 60, 120, 250)]
    made += [talib.EMA(close, 12), talib.EMA(close, 26)]
    dif, dea, hist = talib.MACD(close)
    k, d = talib.STOCH(high, low, close, 9, 5, 1, 5, 1)
    upper, mid, lower = talib.BBANDS(close, 20)
    made += [dif, dea, 2 * hist, k, d, 3 * k - 2 * d, upper, mid, lower, (upper - lower) / mid * 100]
    made += [talib.RSI(close, n) for n in (6, 12, 14, 24)]
    made += [talib.SMA(talib.TRANGE(high, low, close), 14), talib.ATR(high, low, close, 14)]
    made += [talib.CCI(high, low, close, 14)]
    made += [-talib.WILLR(high, low, close, n) for n in (10, 6, 14)]
    made += [talib.PLUS_DI(high, low, close, 14), talib.MINUS_DI(high, low, close, 14)]
    made += [talib.ADX(high, low, close, 14), talib.ADXR(high, low, close, 14)]
    trix = talib.TRIX(close, 12)
    made += [trix, talib.SMA(trix, 9), talib.OBV(close, volume)]
    made += [(close / mean[n] - 1) * 100 for n in (6, 12, 24)]
    made += [talib.ROC(close, 12), talib.MOM(close, 12)]
    rise = (np.diff(close, prepend=close[0]) > 0).astype(float)
    made += [talib.SUM(rise, 12) / 12 * 100]
    made += [talib.SUM(rise * volume, 26) / talib.SUM((1 - rise) * volume, 26) * 100]
    made += [(mean[3] + mean[6] + mean[12] + mean[20]) / 4, talib.MAX(high, 20), talib.MIN(low, 20)]
    made += [talib.SAR(high, low), talib.SMA(volume, 5), talib.SMA(volume, 10)]
    return made + [talib.ROC(close, n) for n in (5, 20, 60)]


def talib_loop(bars: Bars) -> Floats:
    high, low, close = (bars.adjusted(name) for name in ("high", "low", "close"))
    out = np.empty((TALIB_COLUMNS, len(bars)))
    for start, end in zip(bars.offsets[:-1], bars.offsets[1:], strict=True):
        rows = slice(start, end)
        for at, values in enumerate(talib_columns(high[rows], low[rows], close[rows], bars.volume[rows])):
            out[at, rows] = values
    return out


TALIB_COLUMNS = len(talib_columns(*np.ones((4, 300))))


def pandas_columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The same columns of one code as a notebook spells them."""
    high, low, c, v = rows["high"], rows["low"], rows["close"], rows["volume"]
    made = {f"ma{n}": c.rolling(n).mean() for n in (3, 5, 6, 10, 12, 20, 24, 30, 60, 120, 250)}
    ema = {n: c.ewm(span=n, adjust=False).mean() for n in (12, 26)}
    dif = ema[12] - ema[26]
    dea = dif.ewm(span=9, adjust=False).mean()
    bottom, top = low.rolling(9, min_periods=1).min(), high.rolling(9, min_periods=1).max()
    k = ((c - bottom) / (top - bottom) * 100).ewm(alpha=1 / 3, adjust=False).mean()
    d = k.ewm(alpha=1 / 3, adjust=False).mean()
    wide = 2 * c.rolling(20).std()
    made |= {"ema12": ema[12], "ema26": ema[26], "dif": dif, "dea": dea, "hist": 2 * (dif - dea)}
    made |= {"k": k, "d": d, "j": 3 * k - 2 * d, "upper": made["ma20"] + wide, "lower": made["ma20"] - wide}
    made["width"] = 2 * wide / made["ma20"] * 100
    gain = c.diff()
    for n in (6, 12, 14, 24):
        rise, move = (x.ewm(alpha=1 / n, adjust=False).mean() for x in (gain.clip(lower=0), gain.abs()))
        made[f"rsi{n}"] = rise / move * 100
    tr = pd.concat([high - low, (high - c.shift()).abs(), (low - c.shift()).abs()], axis=1).max(axis=1)
    made |= {"atr": tr.rolling(14).mean(), "atr_w": tr.ewm(alpha=1 / 14, adjust=False).mean()}
    tp = (high + low + c) / 3
    away = tp.rolling(14).apply(lambda x: np.abs(x - x.mean()).mean(), raw=True)
    made["cci"] = (tp - tp.rolling(14).mean()) / (0.015 * away)
    for n in (6, 10, 14):
        above = high.rolling(n).max()
        made[f"wr{n}"] = (above - c) / (above - low.rolling(n).min()) * 100
    up, down = high.diff(), -low.diff()
    ranges = tr.rolling(14).sum()
    plus = up.where((up > 0) & (up > down), 0.0).rolling(14).sum() / ranges * 100
    minus = down.where((down > 0) & (down > up), 0.0).rolling(14).sum() / ranges * 100
    adx = ((plus - minus).abs() / (plus + minus) * 100).rolling(6).mean()
    made |= {"pdi": plus, "mdi": minus, "adx": adx, "adxr": (adx + adx.shift(6)) / 2}
    triple = ema[12].ewm(span=12, adjust=False).mean().ewm(span=12, adjust=False).mean()
    trix = triple.pct_change() * 100
    made |= {"trix": trix, "trix_ma": trix.rolling(9).mean(), "obv": (np.sign(gain) * v).cumsum()}
    made |= {f"bias{n}": (c / made[f"ma{n}"] - 1) * 100 for n in (6, 12, 24)}
    made |= {"mtm": c - c.shift(12), "psy": (gain > 0).rolling(12).mean() * 100}
    made["vr"] = v.where(gain > 0, 0).rolling(26).sum() / v.where(gain <= 0, 0).rolling(26).sum() * 100
    made |= {"hhv": high.rolling(20).max(), "llv": low.rolling(20).min()}
    made |= {"v5": v.rolling(5).mean(), "v10": v.rolling(10).mean()}
    made |= {f"chg{n}": c.pct_change(n) * 100 for n in (5, 12, 20, 60)}
    return pd.DataFrame(made)


def least(*sides: Callable[[], object]) -> list[float]:
    """Least CPU seconds of each side over some rounds: memory that the host takes back between two rounds
    costs whoever comes next, and tells nothing of the work."""
    rounds = [[timed(side, time.process_time) for side in sides] for _ in range(SAMPLES)]
    return [min(taken) for taken in zip(*rounds, strict=True)]


def run() -> Iterator[Figure]:
    for part, taken in warm().items():
        yield Figure(f"{part}: compiled or loaded", f"{taken:.1f} s", "-", 0.0)
    yield from whole_history()
    yield from newest_date()


def whole_history() -> Iterator[Figure]:
    bars = market(BARS)
    what = f"{CODES} codes x {BARS} bars"
    talib_loop(bars.take(bars.codes[:10]))
    mine, theirs = least(lambda: indicator_columns(bars), lambda: talib_loop(bars))
    note = f"{len(COLUMNS)} columns against the {TALIB_COLUMNS} that TA-Lib has"
    yield at_most(f"{what}, indicators, vs a TA-Lib loop", mine, theirs, 0.5, note)

    some = bars.take(bars.codes[:PANDAS_CODES])
    frame = pd.DataFrame({name: some.adjusted(name) for name in ("high", "low", "close")}).assign(
        volume=some.volume, code=np.array(some.codes)[some.owner]
    )
    groups = frame.groupby("code", group_keys=False)[list(frame)[:4]]
    apply = timed(lambda: groups.apply(pandas_columns), time.process_time)
    whole = apply * CODES / PANDAS_CODES
    yield faster(f"{what}, indicators, vs pandas groupby-apply", mine, whole, 50, f"of {PANDAS_CODES} codes")

    output = len(COLUMNS) * len(bars) * 8
    with PeakMemory() as peak:
        kept = indicator_columns(bars)
    del kept
    yield Figure(
        f"{what}, indicators, memory vs their output",
        f"{peak.grown / MIB:.0f} MiB",
        f"{output / MIB:.0f} MiB",
        peak.grown / output,
        1.5,
        at_most=True,
    )


def newest_date() -> Iterator[Figure]:
    bars = market(WINDOW)
    parts: list[Callable[[Bars], object]] = [
        lambda bars: indicator_columns(bars, newest=1),
        lambda bars: chip_columns(bars, newest=1),
        lambda bars: pattern_columns(bars, newest=1),
    ]
    mine, theirs = least(lambda: [part(bars) for part in parts], lambda: talib_loop(bars))
    what = f"{CODES} codes x {WINDOW} bars, newest date"
    yield at_most(f"{what}, indicators, chips, patterns, vs a TA-Lib loop", mine, theirs, 1.0)
