"""One walk over every code: all kinds of patterns into the columns of the pattern table."""

import numpy as np

from core.arrays import Floats, Ints
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.patterns import Thresholds
from platform_assets.compute.patterns.duck import scan_duck
from platform_assets.compute.patterns.pivoted import scan_pivoted
from platform_assets.compute.patterns.shapes import scan_arcs, scan_flags, scan_islands


@kernel
def scan(
    high: Floats,
    low: Floats,
    close: Floats,
    volume: Floats,
    offsets: Ints,
    starts: Ints,
    p: Thresholds,
    found: Floats,
) -> None:
    """Fill `found` [16 directions + 9 metrics, rows]; the rows of code i are starts[i] to starts[i + 1], its
    last bars. Prices are adjusted and known, as is the volume; bars lie as in `Bars`.
    """
    begin, tol = p.min_bars - 1, p.tolerance
    for i in range(len(offsets) - 1):
        bars = offsets[i + 1] - offsets[i]
        first = bars - (starts[i + 1] - starts[i])
        tops, bots, closes = np.empty((2, bars)), np.empty((2, bars)), np.empty((2, bars))
        for t in range(bars):
            at = offsets[i] + t
            tops[0, t], bots[0, t], closes[0, t] = high[at], low[at], close[at]
            tops[1, t], bots[1, t], closes[1, t] = -low[at], -high[at], -close[at]
        traded = volume[offsets[i] : offsets[i + 1]]
        rows = found[:, starts[i] : starts[i + 1]]
        scan_duck(
            tops[0],
            bots[0],
            closes[0],
            traded,
            first,
            begin,
            p.duck,
            p.volume,
            tol,
            rows[0],
            rows[1],
            rows[16:21],
        )
        scan_pivoted(tops, bots, closes, traded, first, p, rows[4:14], rows[21:24])
        for s in range(2):
            side = 1 - 2 * s
            scan_arcs(side, closes[s], traded, first, begin, p.arc, p.volume, tol, rows[2 + s])
            scan_flags(
                side, tops[s], bots[s], closes[s], traded, first, begin, p.flag, tol, rows[14], rows[24]
            )
            scan_islands(side, tops[s], bots[s], closes[s], first, begin, p.island, tol, rows[15])
