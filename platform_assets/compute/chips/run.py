"""Distribution of holding costs: every bar's turnover is laid over its prices as a triangle, and what was
there before shrinks by the share that changed hands. Walked from the newest bar back, a bar's triangle is
only multiplied by the share that later bars left alone; the 150 levels need not decay bar by bar."""

import numpy as np

from core.arrays import Floats, Ints
from core.market.bars import Bars
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.chips import BUCKETS, SETTLED, SHOWN_PCT, SMALLEST_STEP, WINDOW

COLUMNS = (
    "profit_ratio_pct", "avg_cost", "cost_50", "cost_90_low", "cost_90_high", "concentration_90_pct",
    "cost_70_low", "cost_70_high", "concentration_70_pct", "peak_price", "peak_ratio_pct", "support_price",
    "resistance_price",
)  # fmt: skip


OPEN, HIGH, LOW, CLOSE, TURNOVER = range(5)
TAILS = np.array([0.05, 0.15])
"""Share of the chips on either side of the middle 90 % and 70 %."""
CODES_AT_ONCE = 500


@kernel
def spread_bar(chips: Floats, low: float, step: float, bars: Floats, i: int, share: float) -> None:
    """Add bar `i` of which `share` is still there."""
    top, bottom = bars[i, HIGH], bars[i, LOW]
    mean = (bars[i, OPEN] + bars[i, CLOSE] + top + bottom) / 4
    last = BUCKETS - 1
    if top == bottom:
        chips[min(last, max(0, int(np.floor((mean - low) / step))))] += last * share / 2
        return
    height = 2 / (top - bottom) * share
    begin = max(0, int(np.ceil((bottom - low) / step)))
    end = min(last, int(np.floor((top - low) / step)))
    rise = mean - bottom if abs(mean - bottom) >= 1e-8 else 0.0
    fall = top - mean if abs(top - mean) >= 1e-8 else 0.0
    for j in range(begin, end + 1):
        price = low + step * j
        if price <= mean:
            chips[j] += height * ((price - bottom) / rise if rise > 0 else 1.0)
        else:
            chips[j] += height * ((top - price) / fall if fall > 0 else 1.0)


@kernel
def spread_window(bars: Floats, count: int, chips: Floats) -> tuple[float, float]:
    """Fill `chips` [levels] from the first `count` of `bars` [bars, 5], oldest first; (price
    of the first level, CNY between two). The step is NaN when a turnover that counts is not known."""
    low, high = bars[0, LOW], bars[0, HIGH]
    for i in range(1, count):
        low, high = min(low, bars[i, LOW]), max(high, bars[i, HIGH])
    step = max(SMALLEST_STEP, (high - low) / (BUCKETS - 1))
    for j in range(BUCKETS):
        chips[j] = 0.0
    left = 1.0
    for i in range(count - 1, -1, -1):
        if np.isnan(bars[i, TURNOVER]):
            return low, np.nan
        share = min(1.0, bars[i, TURNOVER] / 100)
        spread_bar(chips, low, step, bars, i, left * share)
        left *= 1 - share
        if left < SETTLED:
            break
    return low, step


@kernel
def level_above(chips: Floats, requested: float) -> int:
    """The first level up to which there are more chips than requested."""
    summed = 0.0
    for j in range(BUCKETS):
        summed += chips[j]
        if summed > requested:
            return j
    return BUCKETS - 1


@kernel
def largest(chips: Floats, begin: int, end: int) -> int:
    """The first of the levels with most chips, -1 when none has any."""
    found, most = -1, 0.0
    for j in range(begin, end):
        if chips[j] > most:
            found, most = j, chips[j]
    return found


@kernel
def measure(chips: Floats, low: float, step: float, close: float, out: Floats) -> None:
    """The figures of `COLUMNS` of one distribution, NaN when no chip is known."""
    total = won = 0.0
    under = upto = 0
    for j in range(BUCKETS):
        price = low + step * j
        total += chips[j]
        if price < close:
            under = j + 1
        if price <= close:
            upto = j + 1
            won += chips[j]
    for k in range(len(COLUMNS)):
        out[k] = np.nan
    if np.isnan(step) or total <= 0:
        return
    # In this order a whole is 100 exactly.
    out[0] = won / total * 100
    out[1] = out[2] = low + step * level_above(chips, 0.5 * total)
    for k in range(2):
        lower = low + step * level_above(chips, TAILS[k] * total)
        upper = low + step * level_above(chips, (1 - TAILS[k]) * total)
        out[3 + 3 * k], out[4 + 3 * k] = lower, upper
        out[5 + 3 * k] = 100 * (upper - lower) / (upper + lower)
    peak = largest(chips, 0, BUCKETS)
    out[9], out[10] = low + step * peak, chips[peak] / total * 100
    below, over = largest(chips, 0, under), largest(chips, upto, BUCKETS)
    if below >= 0:
        out[11] = low + step * below
    if over >= 0:
        out[12] = low + step * over


@kernel
def all_codes(
    inputs: Floats, factor: Floats, offsets: Ints, newest: int, out: Floats, levels: Floats
) -> None:
    """`inputs` [rows, 5]; `out` [requested rows, figures]; `levels` [requested rows, levels + 2] takes the
    distributions, their first price and their step, unless it is empty."""
    chips = np.empty(BUCKETS)
    window = np.empty((WINDOW, 5))
    to = 0
    for c in range(len(offsets) - 1):
        first, end = offsets[c], offsets[c + 1]
        for row in range(max(first, end - newest), end):
            start = max(first, row + 1 - WINDOW)
            for i in range(start, row + 1):
                scale = factor[i] / factor[row]
                for k in range(4):
                    window[i - start, k] = inputs[i, k] * scale
                window[i - start, TURNOVER] = inputs[i, TURNOVER]
            low, step = spread_window(window, row + 1 - start, chips)
            measure(chips, low, step, inputs[row, CLOSE], out[to])
            if len(levels):
                for j in range(BUCKETS):
                    levels[to, j] = chips[j]
                levels[to, BUCKETS], levels[to, BUCKETS + 1] = low, step
            to += 1


def _computed(bars: Bars, newest: int, *, with_levels: bool) -> dict[str, Floats]:
    """`figures` [rows, columns], and where requested `levels` [rows, levels + 2]: the distributions."""
    known = np.isfinite(bars.open + bars.high + bars.low + bars.close + bars.factor)
    if not known.all():
        return bars.around(known, newest, lambda some, _: _computed(some, newest, with_levels=with_levels))
    rows = int(np.minimum(np.diff(bars.offsets), newest).sum())
    inputs = np.stack([bars.open, bars.high, bars.low, bars.close, bars.turnover], axis=1)
    out = np.empty((rows, len(COLUMNS)))
    levels = np.empty((rows if with_levels else 0, BUCKETS + 2))
    all_codes(inputs, bars.factor, bars.offsets, newest, out, levels)
    return {"figures": out, "levels": levels} if with_levels else {"figures": out}


def chip_columns(bars: Bars, *, newest: int) -> dict[str, Floats]:
    """Column of `calc_chip_daily` -> its values for the rows of `bars.newest(newest)`, in CNY as seen on the
    row's date and in percent.

    Each row looks at the 210 bars that end with it, or as many as there are. All NaN where the turnover of a
    bar that still counts is not known, or where nothing changed hands. A bar whose price or factor is not
    known counts as none: its row is NaN.
    """
    out = _computed(bars, newest, with_levels=False)["figures"]
    return {name: np.ascontiguousarray(out[:, at]) for at, name in enumerate(COLUMNS)}


def chip_distribution(bars: Bars, *, newest: int) -> list[list[list[float]]]:
    """[[price in CNY, share of all chips in percent], ...] for each row of `chip_columns`, both with four
    decimals, lowest price first; levels with 0.01 % or less are left out; empty where the figures are NaN.

    The distributions are computed again, 500 codes at a time: 150 numbers a row are too many to keep along.
    """
    made: list[list[list[float]]] = []
    for first in range(0, len(bars.codes), CODES_AT_ONCE):
        part = bars.take(bars.codes[first : first + CODES_AT_ONCE])
        levels = _computed(part, newest, with_levels=True)["levels"]
        total = levels[:, :BUCKETS].sum(axis=1)
        known = np.isfinite(levels[:, BUCKETS + 1]) & (total > 0)
        share = levels[:, :BUCKETS] / np.where(known, total, np.inf)[:, None] * 100
        prices = levels[:, BUCKETS, None] + levels[:, BUCKETS + 1, None] * np.arange(BUCKETS)
        pairs = np.round(np.stack([prices, share], axis=2), 4)
        made += [row[kept].tolist() for row, kept in zip(pairs, share > SHOWN_PCT, strict=True)]
    return made
