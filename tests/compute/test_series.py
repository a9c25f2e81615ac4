"""Each primitive against a loop that says what it means, bar by bar."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute import series

NAN = float("nan")
BARS = 37


@pytest.fixture(scope="module")
def prices() -> Floats:
    """Codes listed at different times, rounded so that equal values occur; one of them flat."""
    rng = np.random.default_rng(7)
    values = np.round(10 + rng.normal(0, 0.4, (5, BARS)).cumsum(axis=1), 1)
    values[1, :11] = NAN
    values[2, :35] = NAN
    values[3] = 0.1
    values[4, 20] = NAN  # a gap, which a block of bars does not have
    return values


def windows(values: Floats, n: int, what: Callable[[Floats], float]) -> Floats:
    """`what` of each full window [oldest..newest]; NaN otherwise."""
    out = np.full(values.shape, NAN)
    for row in range(values.shape[0]):
        for at in range(n - 1, values.shape[1]):
            window = values[row, at - n + 1 : at + 1]
            if not np.isnan(window).any():
                out[row, at] = what(window)
    return out


def newest_at(window: Floats, best: float) -> float:
    return float(len(window) - 1 - np.flatnonzero(window == best)[-1])


WINDOWS: dict[str, tuple[Callable[..., Floats], Callable[[Floats], float]]] = {
    "sum": (series.sum_, np.sum),
    "ma": (series.ma, np.mean),
    "hhv": (series.hhv, np.max),
    "llv": (series.llv, np.min),
    "hhvbars": (series.hhvbars, lambda w: newest_at(w, w.max())),
    "llvbars": (series.llvbars, lambda w: newest_at(w, w.min())),
    "std": (series.std, lambda w: np.std(w, ddof=1) if len(w) > 1 else NAN),
    "stdp": (series.stdp, np.std),
    "avedev": (series.avedev, lambda w: np.mean(np.abs(w - w.mean()))),
    "wma": (series.wma, lambda w: np.average(w, weights=np.arange(1, len(w) + 1))),
    "slope": (series.slope, lambda w: np.polyfit(np.arange(len(w)), w, 1)[0] if len(w) > 1 else NAN),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("n", [1, 2, 5, 13])
def test_a_window_is_what_its_bars_say(name: str, n: int, prices: Floats) -> None:
    ours, naive = WINDOWS[name]
    np.testing.assert_allclose(ours(prices, n), windows(prices, n, naive), rtol=1e-9, atol=1e-12)


def test_a_window_longer_than_the_history_says_nothing(prices: Floats) -> None:
    for ours, _ in WINDOWS.values():
        assert np.isnan(ours(prices, BARS + 1)).all()
    with pytest.raises(ValueError, match="at least 1"):
        series.ma(prices, 0)


def test_equal_prices_have_their_own_mean_and_no_deviation(prices: Floats) -> None:
    flat = prices[3]
    for n in (3, 7, 20):
        assert (series.ma(flat, n)[n - 1 :] == 0.1).all()
        assert (series.std(flat, n)[n - 1 :] == 0).all()
        assert (series.slope(flat, n)[n - 1 :] == 0).all()


@pytest.mark.parametrize("name", ["ma", "std", "slope", "hhvbars", "avedev", "wma"])
def test_a_window_does_not_know_what_lay_before_or_comes_after(name: str, prices: Floats) -> None:
    ours, _ = WINDOWS[name]
    whole = ours(prices[0], 6)
    for end in range(6, BARS):
        assert np.array_equal(ours(prices[0][end - 6 : end], 6)[-1:], whole[end - 1 : end])


def recursion(values: Floats, weight: float) -> Floats:
    out = np.full(values.shape, NAN)
    for row, line in enumerate(values):
        state: float | None = None
        for at, value in enumerate(line):
            if not np.isnan(value):
                state = value if state is None else state + weight * (value - state)
                out[row, at] = state
    return out


def test_recursions_start_from_the_first_value(prices: Floats) -> None:
    np.testing.assert_allclose(series.ema(prices, 12), recursion(prices, 2 / 13), rtol=1e-12)
    np.testing.assert_allclose(series.sma(prices, 3, 1), recursion(prices, 1 / 3), rtol=1e-12)
    weights = np.full(prices.shape, 0.25)
    np.testing.assert_allclose(series.dma(prices, weights), recursion(prices, 0.25), rtol=1e-12)


def test_references_and_crosses() -> None:
    fast = np.array([1.0, 1, 2, 3, 1, 2, 2, 3])
    slow = np.array([NAN, 1, 1, 2, 2, 2, 2, 2])
    np.testing.assert_array_equal(series.ref(slow, 2), [NAN, NAN, NAN, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(series.ref(slow, 9), np.full(8, NAN))
    assert series.cross(fast, slow).tolist() == [False, False, True, False, False, False, False, True]
    assert series.cross(fast, 1.5).tolist() == [False, False, True, False, False, True, False, False]
    low = np.array([3.0, 1, 1, 3, 1, 3, 1, 1])
    assert np.flatnonzero(series.longcross(low, 2.0, 2)).tolist() == [3]
    assert np.flatnonzero(series.longcross(low, 2.0, 1)).tolist() == [3, 5]


def test_conditions_over_bars() -> None:
    held = np.array([False, True, True, False, True, False, False, True])
    assert series.barslast(held)[1:].tolist() == [0, 0, 1, 0, 1, 2, 0]
    assert np.isnan(series.barslast(held)[0])
    assert series.barslastcount(held).tolist() == [0, 1, 2, 0, 1, 0, 0, 1]
    assert series.filter_(held, 2).tolist() == [False, True, False, False, True, False, False, True]
    np.testing.assert_array_equal(series.count(held, 3), [NAN, NAN, 2, 2, 2, 1, 1, 1])
    np.testing.assert_array_equal(series.every(held, 2), [NAN, 0, 1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(series.exist(held, 2), [NAN, 1, 1, 1, 1, 1, 0, 1])


def test_an_unknown_condition_is_not_a_false_one() -> None:
    unknown = np.array([NAN, NAN, 1.0, 0.0, 5.0])
    assert series.truth(unknown).tolist() == [False, False, True, False, True]
    np.testing.assert_array_equal(series.count(unknown, 2), [NAN, NAN, NAN, 1, 1])
    np.testing.assert_array_equal(series.barslastcount(unknown), [NAN, NAN, 1, 0, 1])


def test_a_block_ends_with_each_codes_newest_bar() -> None:
    rows: list[dict[str, Any]] = [
        {"code": code, "date": f"2026-08-{day:02}", "close": float(day), "volume": 100.0, "adj_factor": 2.0}
        for code, days in (("000001", (3, 4, 5)), ("600000", (5,)), ("600519", (3, 5)))
        for day in days
    ]
    frame = pd.DataFrame(rows).assign(open=1.0, high=2.0, low=0.5)
    held = series.blocks(Bars.from_frame(frame), "close", "volume")
    np.testing.assert_array_equal(held["close"], [[3, 4, 5], [NAN, NAN, 5], [NAN, 3, 5]])
    np.testing.assert_array_equal(held["volume"], [[100, 100, 100], [NAN, NAN, 100], [NAN, 100, 100]])
    adjusted = series.block(Bars.from_frame(frame), "close", adjusted=True)
    np.testing.assert_array_equal(adjusted, held["close"] * 2)
    assert series.block(Bars.from_frame(frame.head(0)), "close").shape == (0, 0)
