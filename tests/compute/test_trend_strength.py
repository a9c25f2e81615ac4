"""Trend strength in numpy is the kernels' column."""

import numpy as np
import pytest

from core.market.bars import Bars
from platform_assets.compute.indicators import indicator_columns
from platform_assets.compute.trend_strength import level_of, trend_strength
from tests.compute.test_indicators import random_bars


def check(bars: Bars) -> None:
    column = indicator_columns(bars)["rtsi"]
    for code in bars.codes:
        rows = bars.rows_of(code)
        found = trend_strength(*(bars.adjusted(name)[rows] for name in ("high", "low", "close")))
        np.testing.assert_allclose(found.rtsi, column[rows], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("flat", [0.0, 0.6, 1.0])
def test_numpy_equals_the_kernel(flat: float) -> None:
    check(random_bars(21, [1, 59, 60, 61, 200], flat=flat))


def test_numpy_equals_the_kernel_on_real_bars(real_bars: Bars) -> None:
    check(real_bars)


def test_levels() -> None:
    values = {100: "strong_up", 70: "strong_up", 69.9: "up", 50: "range", 30: "down", 0: "strong_down"}
    assert {value: level_of(value) for value in values} == values


def test_a_rise_without_a_pause_is_strong() -> None:
    close = 10 * 1.01 ** np.arange(100)
    found = trend_strength(close * 1.001, close * 0.999, close)
    assert found.rtsi[-1] > 99
    falling = close[::-1]
    assert trend_strength(falling * 1.001, falling * 0.999, falling).rtsi[-1] < 1


@pytest.mark.parametrize("factor", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("digits", range(2, 9))
def test_a_fall_without_a_pause_has_a_level(factor: float, digits: int) -> None:
    """Rounding of the sums alone once took it below zero, where no level is."""
    close = np.round(1000 * factor ** np.arange(120), digits)
    found = trend_strength(close, close, close).rtsi[59:]
    assert found.min() >= 0
    assert {level_of(value) for value in found} == {"strong_down"}
