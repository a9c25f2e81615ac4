"""No look-ahead: what is said of a day follows from the bars up to it."""

import numpy as np
import pytest

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.patterns import MIN_BARS
from platform_assets.compute.patterns import DIRECTIONS, METRICS, pattern_columns
from tests.compute.prefix import Mismatch, mismatches


def looks_ahead(bars: Bars, since: int, every: int = 1) -> list[Mismatch]:
    """Everywhere to the last digit."""
    return mismatches(
        pattern_columns,
        bars,
        last=lambda some: pattern_columns(some, newest=1),
        since=since,
        every=every,
        exact=(*DIRECTIONS, *METRICS),
    )


def test_real_prices(real_bars: Bars) -> None:
    assert not looks_ahead(real_bars, since=MIN_BARS, every=3)
    assert not looks_ahead(real_bars, since=320)


def test_made_up_prices(restless: Bars) -> None:
    assert not looks_ahead(restless, since=MIN_BARS, every=7)


def test_a_window_of_320_bars_is_enough(real_bars: Bars) -> None:
    """What is stored day by day is what the whole history says."""
    found = mismatches(
        pattern_columns,
        real_bars,
        last=lambda some: pattern_columns(some.newest(320), newest=1),
        since=380,
        exact=(*DIRECTIONS, *METRICS),
    )
    assert not found


@pytest.mark.soak
@pytest.mark.real_data
def test_real_prices_of_300_codes(all_real_bars: Bars) -> None:
    assert not looks_ahead(all_real_bars, since=320)


@kernel
def called_early(low: Floats, kinds: Floats) -> None:
    """Calls a day a swing low as soon as it lies below the day before, looking at the day after."""
    for t in range(1, len(low) - 1):
        if low[t] < low[t - 1] and low[t] <= low[t + 1]:
            kinds[t] = 1.0


def test_a_kernel_that_looks_ahead_is_caught(real_bars: Bars) -> None:
    def planted(bars: Bars) -> dict[str, Floats]:
        kinds = np.full(len(bars), np.nan)
        for code in bars.codes:
            called_early(bars.adjusted("low")[bars.rows_of(code)], kinds[bars.rows_of(code)])
        return {**pattern_columns(bars), "wedge_kind": kinds}

    found = mismatches(planted, real_bars, since=400)
    assert {one.column for one in found} == {"wedge_kind"}
