"""Indicators of an index against the vectors of the 60-bar series, and what a short history leaves."""

import numpy as np
import pytest

from platform_assets.compute.index_indicators import index_indicators
from platform_assets.compute.indicators import indicator_columns
from tests.compute import vectors

HIGH = np.array([
    21.65, 22.1, 22.35, 22.4, 22.46, 22.56, 22.15, 21.98, 22.14, 22.03, 22.01, 22.12, 22.42, 22.77, 23.08,
    23.32, 23.63, 23.77, 23.69, 23.82, 23.65, 22.98, 22.5, 22.09, 21.15, 20.07, 19.39, 18.8, 17.87, 17.24,
    17.14, 17.08, 17.3, 17.68,
])  # fmt: skip
LOW = np.array([
    19.75, 21.52, 21.6, 21.68, 21.98, 21.8, 21.72, 21.56, 21.46, 21.52, 21.25, 21.55, 21.93, 21.95, 22.17,
    22.68, 23.14, 23.07, 23.13, 23.15, 22.67, 22.17, 21.48, 20.64, 19.89, 18.95, 18.18, 17.51, 16.93, 16.69,
    16.48, 16.57, 16.43, 16.71,
])  # fmt: skip
CLOSE = np.array([
    21.5, 21.88, 22.1, 22.19, 22.16, 22.05, 21.91, 21.78, 21.7, 21.69, 21.78, 21.95, 22.21, 22.52, 22.86,
    23.16, 23.4, 23.52, 23.49, 23.3, 22.92, 22.38, 21.69, 20.89, 20.04, 19.19, 18.39, 17.71, 17.18, 16.85,
    16.72, 16.79, 17.05, 17.48,
])  # fmt: skip
EXPECTED = {
    "ma5": {8: 21.92, 19: 23.374, 29: 17.864, 33: 16.978},
    "ma20": {19: 22.3575, 29: 21.2715, 33: 20.2505},
    "dif": {8: 0.1062, 19: 0.4610, 29: -1.1626, 33: -1.3986},
    "dea": {8: 0.0980, 19: 0.3181, 29: -0.5016, 33: -1.0242},
    "macd": {8: 0.0165, 19: 0.2857, 29: -1.3221, 33: -0.7488},
    "k": {8: 75.4664, 19: 83.5689, 29: 5.6116, 33: 14.8553},
    "d": {8: 78.1055, 19: 82.1424, 29: 12.3396, 33: 10.4102},
    "j": {8: 70.1880, 19: 86.4221, 29: -7.8445, 33: 23.7454},
    "rsi14": {14: 91.8918, 19: 86.8750, 29: 21.0943, 33: 31.3129},
    "boll_upper": {19: 23.7074, 29: 25.7499, 33: 25.7613},
    "boll_lower": {19: 21.0076, 29: 16.7931, 33: 14.7397},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_vectors(name: str) -> None:
    found = index_indicators(HIGH, LOW, CLOSE)[name]
    for at, value in EXPECTED[name].items():
        assert found[at] == pytest.approx(value, abs=1e-4)


def test_nothing_looks_ahead_and_too_few_bars_tell_nothing() -> None:
    whole = index_indicators(HIGH, LOW, CLOSE)
    for count in (1, 5, 21):
        part = index_indicators(HIGH[:count], LOW[:count], CLOSE[:count])
        for name, values in part.items():
            np.testing.assert_allclose(values, whole[name][:count], rtol=1e-12)
    assert np.isnan(whole["ma60"]).all()
    assert np.isnan(whole["boll_upper"][:19]).all()
    # Fourteen changes need fifteen bars.
    assert np.isnan(whole["rsi14"][:14]).all()
    assert np.isfinite(whole["rsi14"][14:]).all()
    assert index_indicators(HIGH[:0], LOW[:0], CLOSE[:0])["k"].size == 0


def test_a_flat_index() -> None:
    flat = np.full(30, 1000.0)
    found = index_indicators(flat, flat, flat)
    assert {name: found[name][-1] for name in ("k", "d", "j", "rsi14", "macd")} == {
        "k": 50, "d": 50, "j": 50, "rsi14": 50, "macd": 0,
    }  # fmt: skip
    assert found["boll_upper"][-1] == found["boll_lower"][-1] == 1000


def test_an_index_has_the_indicators_of_a_stock_with_its_bars() -> None:
    bars = vectors.bars()
    stored = indicator_columns(bars)
    found = index_indicators(bars.high, bars.low, bars.close)
    names = {
        "dif": "macd_dif",
        "dea": "macd_dea",
        "macd": "macd_hist",
        "k": "kdj_k",
        "d": "kdj_d",
        "j": "kdj_j",
    }
    for name, values in found.items():
        column = stored[names.get(name, name)]
        np.testing.assert_allclose(values, column, rtol=1e-9, atol=1e-9, err_msg=name)
