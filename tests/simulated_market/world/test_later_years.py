"""The sample market after the last year of its profiles: it goes on, and no earlier row changes."""

from datetime import datetime

import numpy as np
import pytest

from core.calendar import shipped_calendar
from simulated_market.world.built import STATES
from simulated_market.world.loader import load_world

NOW, LATER = datetime(2026, 8, 21, 16), datetime(2028, 3, 1, 16)
COLUMNS = "open high low close preclose volume amount traded limit_up limit_down up_count down_count".split()


@pytest.mark.parametrize("state", STATES)
def test_later_years_change_no_earlier_row(state: str) -> None:
    short, long = load_world(state=state), load_world(state=state, until=2028)
    own = len(short.trade_dates())

    assert [
        name
        for name in COLUMNS
        if not np.array_equal(getattr(short.world_bars, name), getattr(long.world_bars, name)[:, :own])
    ] == []
    assert [one.symbol for one in short.securities(NOW)] == [one.symbol for one in long.securities(NOW)]
    for one in short.securities(NOW):
        assert short.exrights(one, NOW) == long.exrights(one, NOW)
        assert short.reports(one, NOW) == long.reports(one, NOW)


def test_the_market_goes_on_as_before() -> None:
    world = load_world(until=2028)
    dates = [str(day) for day in world.trade_dates()]

    known = shipped_calendar().between("2024-01-02", "2028-12-31")
    assert dates == [day.replace("-", "") for day in known]
    later = len(shipped_calendar().between("2024-01-02", "2026-12-31"))
    bars = world.world_bars
    sealed = (bars.close == bars.limit_up) & (bars.limit_up > 0)
    assert sealed[:60, later:].sum(axis=0).min() >= 1
    assert {
        int(dates[event.day][:4]) for events in bars.applied for event in events if event.day >= later
    } == {2027, 2028}
    stocks = [one for one in world.securities(LATER) if one.kind == "stock"]
    assert {int(world.bars(one, LATER).date[-1]) for one in stocks} == {20280301}
    assert all(max(r.period for r in world.reports(one, LATER)) >= 20270930 for one in stocks)
