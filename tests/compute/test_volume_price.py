"""Volume-price analysis by hand: each factor where its answer is plain."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from platform_assets.compute.volume_price import (
    Prices,
    analyse,
    breakout,
    confirmation,
    divergence,
    sensitivity,
    swings,
)
from tests.compute.test_indicators import random_bars


def prices(close: list[float] | np.ndarray, volume: list[float] | np.ndarray | float = 100.0) -> Prices:
    values = np.asarray(close, dtype=float)
    traded = np.broadcast_to(np.asarray(volume, dtype=float), values.shape).copy()
    return Prices(values + 0.1, values - 0.1, values, traded, np.full(len(values), np.nan))


def zigzag(turns: list[tuple[int, float]]) -> np.ndarray:
    return np.interp(np.arange(turns[-1][0] + 1), *zip(*turns, strict=True))


def test_sensitivity_is_the_share_of_rising_bars() -> None:
    close = 10 + np.tile([0.0, 1.0], 11)
    volume = np.where(np.arange(22) % 2, 300.0, 100.0)
    assert sensitivity(prices(close, volume)).score == pytest.approx(75)
    with_amount = replace(prices(close, volume), amount=np.full(22, 5.0))
    assert sensitivity(with_amount).score == pytest.approx(50)
    assert sensitivity(prices(np.full(30, 9.9))).score == 50.0
    assert sensitivity(prices(close[:20])).score is None


def test_confirmation_follows_the_trend_only_with_volume() -> None:
    rise = np.linspace(10, 12, 40)
    assert confirmation(prices(rise)).score == pytest.approx(100)
    assert confirmation(prices(rise[::-1])).score == pytest.approx(0)
    # Rising by few bars on little volume, while most volume is on falling ones.
    saw = 10 + np.cumsum(np.tile([0.3, -0.1], 20))
    denied = prices(saw, np.tile([10.0, 500.0], 20))
    assert confirmation(denied).score == 50.0


@pytest.mark.parametrize(
    ("ratio", "score", "has_volume"), [(0.5, 50.0, False), (1.25, 75.0, False), (3.0, 100.0, True)]
)
def test_a_break_upwards_counts_by_its_volume(ratio: float, score: float, has_volume: bool) -> None:
    volume = np.append(np.full(30, 100.0), 100.0 * ratio)
    found = breakout(prices(np.append(np.full(30, 10.0), 11.0), volume))
    assert found.score == pytest.approx(score)
    assert found.values["has_volume"] is has_volume


def test_a_break_downwards_mirrors_and_fades() -> None:
    close = np.append(np.full(30, 10.0), 9.0)
    assert breakout(prices(close)).score == pytest.approx(50 - 50 / 1.5)
    for age in range(1, 7):
        later = np.append(close, np.full(age, 9.0))
        assert breakout(prices(later)).score == pytest.approx(50 - 50 / 1.5 * max(0.0, 1 - age / 5))


def test_a_higher_high_on_less_volume_diverges() -> None:
    close = zigzag([(0, 10), (10, 12), (20, 10.5), (30, 12.36), (36, 11.5)])
    heavy_falls = np.where(np.diff(close, prepend=close[0]) < 0, 300.0, 100.0)
    highs, lows = swings(close + 0.1, close - 0.1)
    assert (highs, lows) == ([10, 30], [20])
    found = divergence(prices(close, heavy_falls))
    assert found.score == pytest.approx(50 - 50 * (12.46 / 12.1 - 1) / 0.05)
    assert divergence(prices(close)).score == 50.0, "on equal volume the balance rises as well"
    late = np.append(close, np.full(30, 11.5))
    assert divergence(prices(late, np.append(heavy_falls, np.full(30, 1.0)))).score == 50.0, "too long ago"


def test_a_lower_low_on_less_volume_diverges_upwards() -> None:
    close = zigzag([(0, 12), (10, 10), (20, 11.5), (30, 9.5), (36, 10.2)])
    heavy_rises = np.where(np.diff(close, prepend=close[0]) > 0, 300.0, 100.0)
    assert divergence(prices(close, heavy_rises)).score == pytest.approx(
        50 + 50 * min(1, (1 - 9.4 / 9.9) / 0.05)
    )


def test_too_few_bars_observe_nothing() -> None:
    found = analyse(prices([10.0, 11.0]))
    assert (found.health, found.observation) == (None, "neutral")
    assert {factor.state for factor in found.factors} == {"unknown"}
    assert analyse(prices([])).health is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(21, 200), st.sampled_from([0.0, 0.7]))
def test_health_is_the_mean_of_scores_in_range(seed: int, length: int, flat: float) -> None:
    bars = random_bars(seed, [length], flat=flat)
    adjusted = (bars.adjusted(name) for name in ("high", "low", "close"))
    one = Prices(*adjusted, bars.volume, bars.volume * bars.close)
    found = analyse(one)
    scores = [factor.score for factor in found.factors if factor.score is not None]
    assert all(0 <= score <= 100 for score in scores)
    assert found.health == pytest.approx(np.mean(scores))
    dearer = replace(one, high=one.high * 8, low=one.low * 8, close=one.close * 8, amount=one.amount * 8)
    assert analyse(dearer).health == pytest.approx(found.health)
    for factor in found.factors:
        assert not any(word in factor.text.lower() for word in ("buy", "sell", "hold"))
