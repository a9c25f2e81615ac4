"""The window of bars that a date is calculated from: 400 trade dates, older bars after a long suspension."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.declaration.scope import Scope
from core.market.bars import Bars
from platform_assets.compute.indicators import indicator_columns
from platform_assets.compute.trend_strength import trend_strength
from platform_assets.datasets._quant import (
    BARS,
    INDEX,
    LEAST_BARS,
    WINDOW_DATES,
    bars_at,
    index_closes,
    newest_stretches,
    number,
    stretches_of,
)
from resources.warehouse.panel import Panel

TODAY = "2026-08-21"
DATES = shipped_calendar().last(900, TODAY)
USUAL, RESTED, LONG_RESTED, NEW, AWAY = "000001", "000002", "000003", "000004", "000005"
TRADED = {
    USUAL: DATES,
    RESTED: DATES[:500] + DATES[700:],
    LONG_RESTED: DATES[:300] + DATES[898:],
    NEW: DATES[-50:],
    AWAY: DATES[:890],
}


def stored() -> pd.DataFrame:
    frames = []
    for seed, (code, days) in enumerate(TRADED.items()):
        moves = np.random.default_rng(seed).normal(0, 0.02, len(days))
        close = 10 * np.exp(np.cumsum(moves))
        frames.append(
            pd.DataFrame(
                {
                    "code": code, "date": days, "open": close, "high": close * 1.02, "low": close * 0.97,
                    "close": close, "volume": 1000.0, "adj_factor": 1.0, "is_suspended": False,
                }
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


class Market:
    """A fetch context of a run; counts what was read outside the window."""

    def __init__(self) -> None:
        self.calendar = shipped_calendar()
        self.rows = stored()
        self.reads: list[tuple[str, ...]] = []
        self.known: dict[object, Any] = {}

    def once(self, key: object, make: Any) -> Any:
        if key not in self.known:
            self.known[key] = make(self)
        return self.known[key]

    def panel(
        self, table: str, *, columns: Sequence[str], since: str, until: str, conditions: Any, noted: Any
    ) -> Panel:
        assert table == BARS
        rows = self.rows[self.rows["date"].between(since, until)]
        values = {}
        for name in columns:
            if name in rows.columns:
                wide = rows.pivot(index="code", columns="date", values=name)
                values[name] = wide.to_numpy(dtype=np.float64)
        return Panel(tuple(wide.index), tuple(wide.columns), values)

    def read(self, table: str, *, columns: Any, codes: tuple[str, ...], until: str) -> pd.DataFrame:
        if table == INDEX:
            return pd.DataFrame({"date": DATES, "close": np.linspace(3000.0, 5000.0, len(DATES))})
        self.reads.append(codes)
        return self.rows[self.rows["code"].isin(codes) & (self.rows["date"] <= until)]


def spans(bars: Bars) -> dict[str, tuple[int, int]]:
    """Code -> (date of its oldest bar, bars)."""
    return {code: (int(bars.date[bars.rows_of(code)][0]), int(np.diff(bars.offsets)[at]))
            for at, code in enumerate(bars.codes)}  # fmt: skip


def test_a_code_that_rested_long_is_calculated_from_older_bars() -> None:
    market = Market()

    found = spans(bars_at(market, Scope((TODAY,)), TODAY))

    assert found == {
        USUAL: (number(DATES[-WINDOW_DATES]), WINDOW_DATES),
        RESTED: (number(DATES[500 - (LEAST_BARS - 200)]), LEAST_BARS),
        LONG_RESTED: (number(DATES[0]), 302),
        NEW: (number(DATES[-50]), 50),
    }
    assert market.reads == [(RESTED, LONG_RESTED, NEW)]


@pytest.mark.parametrize("day", DATES[-15:])
def test_a_date_has_the_same_window_alone_and_within_a_range(day: str) -> None:
    whole, alone = Scope(tuple(DATES[-15:])), Scope((day,))

    within, single = bars_at(Market(), whole, day), bars_at(Market(), alone, day)

    assert within.codes == single.codes
    for name in ("offsets", "date", "close"):
        assert np.array_equal(getattr(within, name), getattr(single, name)), name


def test_dates_that_begin_with_the_same_bars_are_one_stretch() -> None:
    market, scope = Market(), Scope(tuple(DATES[385:405]))

    found = list(stretches_of(market, scope))

    days = [number(day) for day in scope.dates]
    assert [one.days for one in found] == [tuple(days[:15]), *((day,) for day in days[15:])]
    for one in found:
        for at in one.days:
            day = next(own for own in scope.dates if number(own) == at)
            window, until = bars_at(market, scope, day), one.bars.until(at)
            traded = until.take(window.codes)
            assert spans(traded) == spans(window)
            assert np.array_equal(traded.close, window.close)
        assert set(one.dates) == {day for day in scope.dates if number(day) in one.days}


def test_a_stretch_of_the_newest_bars_has_321_of_each_code() -> None:
    found = list(newest_stretches(Market(), Scope(tuple(DATES[318:324]))))

    assert [len(one.days) for one in found] == [3, 1, 1, 1]
    assert [spans(one.bars)[USUAL][1] for one in found] == [321] * 4


def test_the_stored_strength_of_a_rested_code_is_that_of_its_newest_bars() -> None:
    """`/stocks/{code}/rtsi` counts bars, not dates."""
    market = Market()
    bars = bars_at(market, Scope((TODAY,)), TODAY)
    values = indicator_columns(bars, newest=1)

    for at, code in enumerate(bars.codes):
        own = market.rows[market.rows["code"] == code]
        counted = trend_strength(*(own[name].to_numpy()[-570:] for name in ("high", "low", "close")))
        assert values["rtsi"][at] == pytest.approx(counted.rtsi[-1], abs=1e-6, nan_ok=True), code
    assert np.isfinite(values["ma250"][list(bars.codes).index(RESTED)])


def test_relative_strength_reaches_as_far_back_as_the_bars() -> None:
    market, scope = Market(), Scope((TODAY,))
    bars = bars_at(market, scope, TODAY)
    values = indicator_columns(bars, index=index_closes(market, scope), newest=1)

    at = bars.place[LONG_RESTED]
    own = market.rows[market.rows["code"] == LONG_RESTED]
    index = dict(zip(DATES, np.linspace(3000.0, 5000.0, len(DATES)), strict=True))
    first, last = own.iloc[-61], own.iloc[-1]
    expected = (last["close"] / first["close"] - index[TODAY] / index[first["date"]]) * 100
    assert values["rs_60d"][at] == pytest.approx(expected)
