"""Limit states of a panel: what the pools correct, and which limit-up is the newest."""

import numpy as np
import pytest

from platform_assets.compute import wide_stats
from platform_assets.compute.wide_stats import BarPanel


def test_means_and_extremes_are_of_traded_sessions() -> None:
    close = np.array([[10.0], [11.0], [99.0], [12.0], [13.0]])
    volume = np.array([[1.0], [3.0], [np.nan], [5.0], [7.0]])
    states = np.zeros_like(close)
    bars = BarPanel(close, close * volume / volume, close * volume / volume, volume, states, states, -1)

    assert wide_stats.mean_deviation(bars, 4) == pytest.approx((13 / 11.5 - 1) * 100)
    assert np.isnan(wide_stats.mean_deviation(bars, 5)).all()
    assert wide_stats.extremes(bars) == (13.0, 10.0)
    returns = np.array([11 / 10, 12 / 11, 13 / 12]) * 100 - 100
    assert wide_stats.volatility(bars, 3) == pytest.approx(returns.std(ddof=1))


def panel(up: list[list[float]], up_open: list[list[float]]) -> BarPanel:
    states = np.asarray(up, dtype=float)
    prices = np.ones_like(states)
    return BarPanel(prices, prices, prices, prices, states, np.asarray(up_open, dtype=float), -1)


def test_a_pool_wins_where_it_names_a_code_and_bars_stand_elsewhere() -> None:
    bars = panel([[1, 0, np.nan], [1, 0, 1], [0, 0, 1]], [[0, 0, np.nan], [0, 0, 0], [0, 1, 0]])
    sealed, broken = np.zeros((3, 3), dtype=bool), np.zeros((3, 3), dtype=bool)
    sealed[2, 1] = broken[1, 2] = True

    reported = wide_stats.with_pool_states(bars, sealed, broken)

    assert wide_stats.limit_days(reported).tolist() == [0, 1, 1]
    assert wide_stats.count_up(reported).tolist() == [2, 1, 1]
    assert wide_stats.count_broken(reported).tolist() == [0, 0, 1]
    assert wide_stats.limit_days(bars).tolist() == [0, 0, 2]  # the bars themselves are untouched


def test_a_streak_goes_on_after_a_rest() -> None:
    bars = panel([[1, 1, 0], [np.nan, 1, 1], [np.nan, 0, np.nan], [1, 1, np.nan]], np.zeros((4, 3)).tolist())
    assert wide_stats.limit_days(bars).tolist() == [2, 1, 0]  # a stock that is suspended today is at no limit


def test_a_date_that_is_not_loaded_leaves_a_streak_unknown() -> None:
    """Through it, right behind it; not behind a day that ended the streak, nor where a pool has the date."""
    rest = np.nan
    bars = panel([[1, 0, 0, 1], [rest, rest, rest, 1], [1, 1, 0, 1], [1, 1, 1, 1]], np.zeros((4, 4)).tolist())

    days = wide_stats.limit_days(bars, missing=(1,))

    assert [None if np.isnan(one) else one for one in days] == [None, None, 1, 4]
    assert wide_stats.newest_up(bars, missing=(1,)).tolist() == [3, 3, 3, 3]
    assert wide_stats.newest_up(bars, missing=(3,)).tolist() == [-1, -1, -1, -1]


def test_the_newest_limit_up_lies_within_the_window() -> None:
    bars = panel([[1, 0, 1], [0, 0, 0], [0, 0, 1], [0, 0, np.nan]], np.zeros((4, 3)).tolist())

    assert wide_stats.newest_up(bars).tolist() == [0, -1, 2]
    assert wide_stats.newest_up(bars, 3).tolist() == [-1, -1, 2]
    assert wide_stats.newest_up(bars, 1).tolist() == [-1, -1, -1]
