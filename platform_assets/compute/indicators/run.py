"""All indicators of many codes: one pass per code through a scratch that stays in the processor's cache."""

import numpy as np

from core.arrays import Floats, Ints
from core.market.bars import Bars
from platform_assets.compute.asof import index_close
from platform_assets.compute.indicators import layout as at
from platform_assets.compute.indicators.layout import COLUMNS
from platform_assets.compute.indicators.steps import (
    bands,
    changes,
    commodity,
    differences,
    give,
    highest,
    load,
    means,
    parabolic,
    recursions,
    shifts,
    spreads,
    sums,
    tilts,
    williams,
)
from platform_assets.compute.kernels import kernel, step


@step
def directed(s: Floats, begin: int, m: int) -> None:
    """PDI, MDI and the distance between them that ADX averages; sums, not Wilder's recursion."""
    for i in range(begin):
        s[at.DX, i] = np.nan
    for i in range(begin, m):
        span = s[at.TR14, i]
        plus = s[at.PLUS14, i] / span * 100 if span > 0 else np.nan
        minus = s[at.MINUS14, i] / span * 100 if span > 0 else np.nan
        both = plus + minus
        s[at.PDI, i], s[at.MDI, i] = plus, minus
        s[at.DX, i] = abs(plus - minus) / both * 100 if both > 0 else both


@step
def single(s: Floats, begin: int, m: int) -> None:
    """One line each."""
    close, volume = s[at.CLOSE], s[at.VOLUME]
    for i in range(begin, m):
        s[at.ADX, i] = s[at.DX6, i] / 6
        s[at.ADXR, i] = (s[at.DX6, i] + s[at.DX6, i - 6]) / 12 if i >= begin + 6 else np.nan
        s[at.MTM, i] = close[i] - close[i - 12] if i >= 12 else np.nan
        other = s[at.OTHER26, i]
        s[at.VR, i] = s[at.UP26, i] / other * 100 if other > 0 else np.nan
        s[at.BBI, i] = (
            s[at.CLOSE3, i] / 3 + s[at.CLOSE6, i] / 6 + s[at.CLOSE12, i] / 12 + s[at.CLOSE20, i] / 20
        ) / 4
        s[at.HHV20, i] = s[at.HIGH20, i] if i >= 19 else np.nan
        s[at.LLV20, i] = -s[at.DROP20, i] if i >= 19 else np.nan
        before = s[at.VOLUME5, i - 1] if i >= 1 else np.nan
        s[at.VOL_RATIO, i] = volume[i] * 5 / before if before > 0 else np.nan
        s[at.RS20, i] = s[at.CHG20, i] - s[at.INDEX20, i]
        s[at.RS60, i] = s[at.CHG60, i] - s[at.INDEX60, i]


@step
def logs(s: Floats, begin: int, m: int) -> None:
    """Logarithms of the close."""
    for i in range(begin, m):
        s[at.LOG, i] = np.log(s[at.CLOSE, i])


@step
def above(one: float, other: float) -> float:
    """1 when the one is above the other by more than the rounding of sums, else 0."""
    return 1.0 if one > other * (1 + at.EQUAL) else 0.0


@step
def strength(s: Floats, begin: int, m: int) -> None:
    """Alignment of the averages, and RTSI from it, from the sums over the log price over 20 bars, from DMI,
    RSI and the place within 60 bars."""
    for i in range(begin, m):
        if i < at.RTSI_BARS - 1:
            s[at.ALIGN, i] = s[at.RTSI, i] = np.nan
            continue
        short, ten, mid, long = s[at.MA5, i], s[at.MA10, i], s[at.MA20, i], s[at.MA60, i]
        steps = above(short, ten) + above(ten, mid) + above(mid, long)
        falls = above(ten, short) + above(mid, ten) + above(long, mid)
        s[at.ALIGN, i] = 1.0 if steps == 3 else (-1.0 if falls == 3 else 0.0)
        steps += above(s[at.CLOSE, i], mid) + above(mid, s[at.MA20, i - 5])

        trend = s[at.SHIFT, i] * 9.5 - s[at.TILT, i]
        spread = s[at.SPREAD, i] - s[at.SHIFT, i] * s[at.SHIFT, i] / 20
        fit = np.sign(trend) * trend * trend / (665.0 * spread) if spread > at.FLAT else 0.0
        total = at.ALIGNED * steps / 5 + at.REGRESSED * (fit + 1) / 2
        weight = at.ALIGNED + at.REGRESSED

        both = s[at.PDI, i] + s[at.MDI, i]
        if both > 0:
            total += at.DIRECTED * (s[at.PDI, i] / both)
            weight += at.DIRECTED
        total += at.MOMENTUM * s[at.RSI14, i] / 100
        weight += at.MOMENTUM
        span = s[at.HIGH60, i] + s[at.DROP60, i]
        if span > 0:
            total += at.PLACED * (s[at.CLOSE, i] + s[at.DROP60, i]) / span
            weight += at.PLACED
        s[at.RTSI, i] = 100 * total / weight


@kernel
def all_codes(inputs: Floats, offsets: Ints, newest: int, ddof: int, out: Floats) -> None:
    """`inputs` [6, rows]: high, low, close, volume, factor, the index; `out` [columns, requested rows].

    For a few of the newest bars, what looks at a window alone is computed for a few bars alone.
    """
    longest = 0
    for c in range(len(offsets) - 1):
        longest = max(longest, offsets[c + 1] - offsets[c])
    s = np.empty((at.COUNT, longest))
    to = 0
    for c in range(len(offsets) - 1):
        m = offsets[c + 1] - offsets[c]
        begin = max(0, m - newest - at.LEAD)
        load(inputs, offsets[c], m, s)
        highest(s, m)
        recursions(s, m)
        differences(s, m)
        sums(s, at.SUMS, m)
        means(s, m)
        changes(s, m)
        williams(s, m)
        parabolic(s, m)
        shifts(s, at.CLOSE, 20, begin, m)
        spreads(s, at.CLOSE, 20, begin, m)
        bands(s, ddof, begin, m)
        shifts(s, at.TYPICAL, 14, begin, m)
        commodity(s, begin, m)
        directed(s, begin, m)
        sums(s, at.DX_SUMS, m)
        single(s, begin, m)
        logs(s, max(0, begin - 20), m)
        shifts(s, at.LOG, 20, begin, m)
        spreads(s, at.LOG, 20, begin, m)
        tilts(s, at.LOG, 20, begin, m)
        strength(s, begin, m)
        give(s, max(0, m - newest), m, to, out)
        to += min(newest, m)


def indicator_columns(
    bars: Bars, *, index: tuple[Ints, Floats] | None = None, newest: int | None = None, ddof: int = 1
) -> dict[str, Floats]:
    """Column of `calc_indicator_daily` -> its values for the rows of `bars`, or with `newest` for those of
    `bars.newest(newest)`. NaN where there are not enough bars.

    `index`: trade dates (yyyymmdd, ascending) and closes of the index that relative strength is measured
    against. `ddof` is that of BOLL's deviation. Prices (`PRICE_SCALE`) are CNY as seen on their own date. A
    bar whose price or factor is not known counts as none: its row is NaN.
    """
    known = np.isfinite(bars.high + bars.low + bars.close + bars.factor)
    if not known.all():
        return bars.around(
            known, newest, lambda some, count: indicator_columns(some, index=index, newest=count, ddof=ddof)
        )
    count = len(bars) if newest is None else newest
    rows = int(np.minimum(np.diff(bars.offsets), count).sum())
    inputs = np.stack([bars.high, bars.low, bars.close, bars.volume, bars.factor, index_close(bars, index)])
    out = np.empty((len(COLUMNS), rows))
    all_codes(inputs, bars.offsets, count, ddof, out)
    return dict(zip(COLUMNS, out, strict=True))
