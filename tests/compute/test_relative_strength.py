"""Relative strength by hand."""

import numpy as np
import pandas as pd
import pytest

from core.market.bars import Bars
from platform_assets.compute.relative_strength import rating, relative_strength

DATES = np.arange(20250000, 20250300)


def market(**closes: np.ndarray) -> Bars:
    frames = [
        pd.DataFrame({"code": code, "date": DATES[-len(close) :], "close": close})
        for code, close in closes.items()
    ]
    rows = pd.concat(frames)
    return Bars.from_frame(rows.assign(open=rows["close"], high=rows["close"], low=rows["close"], volume=1.0))


def test_excess_and_mansfield() -> None:
    steady = np.full(300, 10.0)
    index = np.linspace(4000, 5000, 300)
    found = relative_strength(market(a=steady, b=index / 100), (DATES, index), int(DATES[-1]))
    assert found.codes == ("a", "b")
    assert found.change_pct[20] == pytest.approx([0.0, (index[-1] / index[-21] - 1) * 100])
    assert found.excess_pct[60] == pytest.approx([(index[-61] / index[-1] - 1) * 100, 0.0])
    ratio = 10 / index[-50:]
    assert found.mansfield_pct == pytest.approx([(ratio[-1] / ratio.mean() - 1) * 100, 0.0], abs=1e-9)


def test_the_strongest_is_rated_99_and_the_weakest_1() -> None:
    growth = {f"c{at}": 10 * (1 + at / 10_000) ** np.arange(300) for at in range(9)}
    found = relative_strength(market(**growth), (DATES, np.ones(300)), int(DATES[-1]))
    assert found.rating.tolist() == sorted(found.rating.tolist())
    assert (found.rating[0], found.rating[4], found.rating[-1]) == (1, 50, 99)


def test_a_new_listing_is_rated_by_what_it_has() -> None:
    assert rating({63: np.array([0.1, 0.5]), 126: np.array([0.1, np.nan]), 189: np.array([0.1, np.nan]),
                   252: np.array([0.1, np.nan])}).tolist() == [1, 99]  # fmt: skip
    found = relative_strength(
        market(a=np.linspace(1, 2, 300), b=np.ones(300), n=np.ones(30)), (DATES, np.ones(300)), int(DATES[-1])
    )
    assert np.isnan(found.rating[2])
    assert np.isfinite(found.excess_pct[20][2])
    assert np.isnan(found.excess_pct[60][2])
    assert np.isnan(found.mansfield_pct[2])


def test_only_codes_that_traded_on_the_day_and_nothing_later() -> None:
    closes = np.linspace(10, 20, 300)
    day = int(DATES[-2])
    bars = market(a=closes, b=closes)
    bars = bars.where((bars.date != day) | (bars.owner == 0))
    before = relative_strength(bars, (DATES, closes), day)
    assert before.codes == ("a",), "b is suspended"
    cut = relative_strength(bars.until(day), (DATES[:-1], closes[:-1]), day)
    for window in before.excess_pct:
        assert np.array_equal(before.excess_pct[window], cut.excess_pct[window], equal_nan=True)
    assert relative_strength(bars.until(20240101), (DATES, closes), day).codes == ()
    assert np.isnan(relative_strength(bars, (DATES[:0], closes[:0]), day).excess_pct[20]).all()
