"""The state `autumn-2026`: what it adds, and that it changes nothing of the market without it."""

from datetime import datetime

import numpy as np
import pytest

from core.errors import InputError
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.model import World
from tests.simulated_market.world.moments import at

EVENING = at(20260918, "16:00")


@pytest.fixture(scope="module")
def autumn() -> SyntheticWorld:
    return SyntheticWorld("S", state="autumn-2026")


def events(world: World, symbol: str, now: datetime = EVENING) -> list[tuple[int, int, tuple[float, ...]]]:
    security = world.find(symbol)
    assert security is not None
    return [(e.date, e.category, e.values) for e in world.exrights(security, now) if e.category in (1, 11)]


def reference(close: int, tick: int, event: tuple[int, tuple[float, ...]]) -> int:
    """The exchange's reference price in 1e-4 CNY, half up to the tick."""
    category, (cash, price, shares, rights) = event
    if category == 11:
        exact = close / shares
    else:
        exact = (10 * close - 10_000 * cash + 10_000 * price * rights) / (10 + shares + rights)
    return int(exact / tick + 0.5 + 1e-9) * tick


@pytest.mark.parametrize("profile", ["S", "M"])
def test_the_market_without_it_stays_what_it_is(profile: str) -> None:
    calm, autumn = SyntheticWorld(profile), SyntheticWorld(profile, state="autumn-2026")
    listed = calm.securities(EVENING)
    for security in listed if profile == "S" else listed[::40]:
        same = autumn.find(security.symbol)
        assert same == security
        one, other = calm.bars(security, EVENING), autumn.bars(same, EVENING)
        for name, column in vars(one).items():
            assert np.array_equal(column, getattr(other, name), equal_nan=name == "turnover_pct")
        assert list(calm.exrights(security, EVENING)) == list(autumn.exrights(same, EVENING))
        assert calm.valuation(security, EVENING) == autumn.valuation(same, EVENING)
        noon = at(20260918, "10:47")
        assert calm.quote(security, noon) == autumn.quote(same, noon)
        paths = [world.minutes(security, 20260917, noon) for world in (calm, autumn)]
        assert (paths[0] is None) == (paths[1] is None)
        if paths[0] is not None and paths[1] is not None:
            assert np.array_equal(paths[0].price, paths[1].price)
    assert len(autumn.securities(EVENING)) > len(listed)


def test_some_security_goes_ex_in_every_session(autumn: SyntheticWorld) -> None:
    dates = {
        date
        for security in autumn.securities(EVENING)
        if security.kind != "index"
        for date, _, _ in events(autumn, security.symbol)
    }
    sessions = [int(day) for day in autumn.trade_dates() if int(day) <= 20260918]
    assert not [day for day in sessions[5:] if day not in dates]


def test_every_price_goes_ex_by_the_rule_of_the_exchange(autumn: SyntheticWorld, world: World) -> None:
    added = [s for s in autumn.securities(EVENING) if world.find(s.symbol) is None]
    assert {s.kind for s in added} == {"stock", "etf", "lof", "reit"}
    assert {s.decimals for s in added} == {2, 3}
    for security in added:
        bars = autumn.bars(security, EVENING)
        by_date = {date: (category, values) for date, category, values in events(autumn, security.symbol)}
        tick = 10 ** (4 - security.decimals)
        for row in range(1, len(bars)):
            close, day = int(bars.close[row - 1]), int(bars.date[row])
            expected = reference(close, tick, by_date[day]) if day in by_date else close
            assert int(bars.preclose[row]) == expected, (security.symbol, day)
        assert (bars.close % tick == 0).all()


def test_funds_are_split_and_put_together(autumn: SyntheticWorld) -> None:
    for symbol, day, ratio in (("sh512901", 20260916, 5.0), ("sh512902", 20260917, 0.5)):
        assert events(autumn, symbol) == [(day, 11, (0.0, 0.0, ratio, 0.0))]
        bars = autumn.bars(autumn.find(symbol), EVENING)
        row = int(np.flatnonzero(bars.date == day)[0])
        assert bars.close[row - 1] / bars.preclose[row] == pytest.approx(ratio, rel=2e-3)
        before, after = (autumn.shares(autumn.find(symbol), at(one)) for one in (20260915, 20260917))
        assert after[0] == round(before[0] * ratio)


def test_several_events_fall_into_one_suspension(autumn: SyntheticWorld) -> None:
    assert [date for date, _, _ in events(autumn, "sh605621")] == [20260909, 20260911, 20260915]
    bars = autumn.bars(autumn.find("sh605621"), EVENING)
    off = bars.date[~bars.traded]
    assert (off[0], off[-1], len(off)) == (20260907, 20260917, 9)


def test_a_code_is_replaced_on_its_day_and_takes_its_history_along(autumn: SyntheticWorld) -> None:
    old, new = autumn.find("sz003061"), autumn.find("sz001991")
    before, after = at(20260915, "16:00"), at(20260916, "16:00")
    assert old is not None
    assert new is not None
    assert (old.delist_date, new.delist_date) == (20260916, None)

    def known(now: datetime) -> set[str]:
        return {s.symbol for s in autumn.securities(now)} & {"sz003061", "sz001991"}

    assert (known(before), known(after)) == ({"sz003061"}, {"sz001991"})
    assert (len(autumn.bars(new, before)), len(autumn.bars(old, after))) == (0, 0)
    assert len(autumn.bars(new, after)) == len(autumn.bars(old, before)) + 1
    assert autumn.quote(old, after) is None
    assert autumn.quote(new, before) is None
    assert autumn.quote(new, after) is not None
    assert autumn.name(old, before) == autumn.name(new, after)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(InputError, match="state"):
        SyntheticWorld("S", state="spring")
