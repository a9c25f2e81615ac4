"""All indicators of many codes: one pass per code through a scratch that stays in the processor's cache."""

import numpy as np

from core.arrays import Floats, Ints
from core.market.bars import Bars
from platform_assets.compute.indicators import layout as at
from platform_assets.compute.indicators.finish import directed, logs, single, strength
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
from platform_assets.compute.kernels import kernel


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
    inputs = np.stack([bars.high, bars.low, bars.close, bars.volume, bars.factor, _index_close(bars, index)])
    out = np.empty((len(COLUMNS), rows))
    all_codes(inputs, bars.offsets, count, ddof, out)
    return dict(zip(COLUMNS, out, strict=True))


def _index_close(bars: Bars, index: tuple[Ints, Floats] | None) -> Floats:
    """[rows] close of the index on each bar's date, NaN where it has none."""
    if index is None or len(index[0]) == 0:
        return np.full(len(bars), np.nan)
    dates, closes = index
    place = np.minimum(np.searchsorted(dates, bars.date), len(dates) - 1)
    return np.where(dates[place] == bars.date, closes[place], np.nan)
