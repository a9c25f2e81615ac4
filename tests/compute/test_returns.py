"""Returns over a window, and percentiles of a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from platform_assets.compute.percentiles import percentile_of_last
from platform_assets.compute.returns import rolling

PRICES = arrays.arrays(np.float64, st.integers(1, 60), elements=st.floats(0.5, 500.0))


def test_a_window_by_hand() -> None:
    change, spread = rolling(np.array([10.0, 11.0, 9.9, 9.9]), 2)
    assert np.isnan(change[:2]).all()
    assert np.isnan(spread[:2]).all()
    assert change[2:] == pytest.approx([-1.0, -10.0])
    assert spread[2:] == pytest.approx([np.std([10.0, -10.0], ddof=1), np.std([-10.0, 0.0], ddof=1)])


@given(PRICES, st.integers(2, 20))
def test_a_figure_looks_at_nothing_later(closes: np.ndarray, window: int) -> None:
    whole = rolling(closes, window)
    part = rolling(closes[:-1], window)
    assert np.array_equal(whole.change_pct[:-1], part.change_pct, equal_nan=True)
    assert np.allclose(whole.volatility_pct[:-1], part.volatility_pct, equal_nan=True)


def test_losses_do_not_count_among_ratios() -> None:
    assert percentile_of_last(np.array([-5.0, 10.0, 20.0, 30.0, 20.0])) == 75.0
    assert np.isnan(percentile_of_last(np.array([10.0, -5.0])))
    assert np.isnan(percentile_of_last(np.array([10.0, np.nan])))
    assert np.isnan(percentile_of_last(np.array([])))
