"""Signals are on the day of their crossing only."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.market.bars import Bars
from platform_assets.compute.signals import COLUMNS, SIGNALS, Hits, Pair, hits, paired

CALM = {
    "ma5": (9.0, 9.0), "ma20": (10.0, 10.0), "macd_dif": (-0.1, -0.1), "macd_dea": (0.1, 0.1),
    "kdj_k": (40.0, 40.0), "kdj_d": (50.0, 50.0), "rsi6": (50.0, 50.0), "boll_upper": (12.0, 12.0),
    "boll_lower": (8.0, 8.0), "vol_ratio_5": (1.0, 1.0),
}  # fmt: skip


def bars(*closes: float, factor: tuple[float, ...] | None = None) -> Bars:
    days = pd.bdate_range("2026-01-05", periods=len(closes)).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"code": "600519", "date": days, "close": closes, "volume": 100.0})
    for name in ("open", "high", "low"):
        frame[name] = frame["close"]
    frame["adj_factor"] = factor or 1.0
    return Bars.from_frame(frame)


def found(given: Bars, **changed: tuple[float, float]) -> dict[str, Hits]:
    reported = newest(given, {**CALM, **changed})
    return {one.key: one for one in hits(given, reported, given.last_rows) if one.hit[0]}


def newest(given: Bars, values: Mapping[str, tuple[float, float]]) -> dict[str, Pair]:
    """The newest bar and the one before, where there is one."""
    only = len(given) == 1
    columns = {name: np.array(values[name][-1:] if only else values[name]) for name in COLUMNS}
    return paired(np.array([0 if only else 1]), np.array([only]), columns)


def test_every_kind_occurs_and_a_calm_day_has_none() -> None:
    given = bars(*[10.0] * 30)
    reported = {one.key for one in hits(given, newest(given, CALM), given.last_rows)}

    assert reported == {signal.key for signal in SIGNALS}
    assert found(given) == {}


def test_a_crossing_counts_on_its_day_only() -> None:
    given = bars(*[10.0] * 30)

    crossed = found(given, ma5=(9.0, 10.5))["ma_golden_cross"]
    assert (crossed.direction[0], round(crossed.strength[0], 6)) == (1, 5.0)
    assert found(given, ma5=(10.5, 10.5)) == {}
    assert set(found(given, ma5=(10.0, 9.9))) == {"ma_dead_cross"}


def test_crossings_of_macd_say_on_which_side_of_zero() -> None:
    low = found(bars(*[10.0] * 30), macd_dif=(-0.2, -0.05), macd_dea=(-0.1, -0.1))["macd_golden_cross"]
    high = found(bars(*[10.0] * 30), macd_dif=(0.05, 0.2), macd_dea=(0.1, 0.1))["macd_golden_cross"]

    assert low.above is not None
    assert high.above is not None
    assert (low.above[0], high.above[0]) == (False, True)


def test_kdj_crosses_only_in_its_outer_bands() -> None:
    given = bars(*[10.0] * 30)

    assert set(found(given, kdj_k=(14.0, 18.0), kdj_d=(15.0, 16.0))) == {"kdj_golden_cross"}
    assert found(given, kdj_k=(14.0, 38.0), kdj_d=(15.0, 16.0)) == {}
    assert set(found(given, kdj_k=(90.0, 82.0), kdj_d=(88.0, 86.0))) == {"kdj_dead_cross"}


def test_bounds_and_surges_are_signals_once() -> None:
    given = bars(*[10.0] * 30)

    assert set(found(given, rsi6=(25.0, 15.0))) == {"rsi6_oversold"}
    assert found(given, rsi6=(15.0, 12.0)) == {}
    assert set(found(given, rsi6=(75.0, 85.0), vol_ratio_5=(1.2, 2.0))) == {"rsi6_overbought", "volume_surge"}
    assert found(given, vol_ratio_5=(2.5, 3.0)) == {}


def test_a_new_high_is_one_of_adjusted_prices_and_is_no_signal_twice() -> None:
    flat = [10.0] * 70

    assert set(found(bars(*flat, 11.0))) == {"new_high_20", "new_high_60"}
    assert set(found(bars(*[20.0] * 20, *flat[:40], 10.5))) == {"new_high_20"}
    assert found(bars(*flat, 11.0, 11.5)) == {}
    halved = (*[1.0] * 70, 2.0)
    bands: dict[str, tuple[float, float]] = {"boll_lower": (8.0, 4.0), "boll_upper": (12.0, 6.0)}
    assert set(found(bars(*flat, 5.5, factor=halved), **bands)) == {"new_high_20", "new_high_60"}
    assert found(bars(*flat, 4.9, factor=halved), **bands) == {}


def test_a_code_with_one_bar_or_few_has_no_signal() -> None:
    assert found(bars(10.0), ma5=(0.0, 10.5), vol_ratio_5=(0.0, np.nan)) == {}
    assert found(bars(*[10.0] * 15, 12.5), boll_upper=(np.nan, np.nan)) == {}
