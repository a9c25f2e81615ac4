"""The sample market against real files: distributions in the bands that the real ones span.

Profile S is quick and is always checked; the largest profile covers the cross-section and is `soak`.
"""

import itertools
from datetime import datetime

import numpy as np
import pytest

from simulated_market.industries import ALL
from simulated_market.margin import MarginBook
from simulated_market.wire import View
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.indices import INDICES

NOW = datetime(2026, 11, 20, 16, 30)
LOADED = 320
"""Trade dates that a first start loads."""


class Market:
    """Daily figures of the stocks of a world."""

    def __init__(self, world):
        world_bars = world.world_bars
        self.count = sum(1 for p in world.plans if p.board)
        rows = slice(0, self.count)
        self.dates, self.traded = world_bars.dates, world_bars.traded[rows]
        close, preclose = world_bars.close[rows].astype(float), world_bars.preclose[rows].astype(float)
        self.change = np.where(self.traded, close / np.maximum(preclose, 1) - 1, np.nan)
        limited = self.traded & (world_bars.limit_up[rows] > 0)
        self.limited = limited
        self.up = limited & (world_bars.close[rows] == world_bars.limit_up[rows])
        self.down = limited & (world_bars.close[rows] == world_bars.limit_down[rows])
        self.broken = limited & (world_bars.high[rows] == world_bars.limit_up[rows]) & ~self.up
        first = len(world.plans)
        self.levels = world_bars.close[first:].astype(float)
        self.index = world_bars.close[first:] / world_bars.preclose[first:] - 1
        floating = np.ones(self.traded.shape)
        for row in range(self.count):
            for one in world_bars.shares[row]:
                floating[row, one.day :] = one.floating
        self.turnover = np.where(self.traded, world_bars.volume[rows] / floating, np.nan)

    def per_5500(self, flags):
        return flags.sum(axis=0) / self.traded.sum(axis=0) * 5_500

    def ladders(self):
        """Boards in a row of the highest stock of each session."""
        height, highest = np.zeros(self.count, dtype=int), []
        for day in range(len(self.dates)):
            height = np.where(self.traded[:, day], np.where(self.up[:, day], height + 1, 0), height)
            highest.append(int(height.max()))
        return np.asarray(highest)


@pytest.fixture(scope="module")
def market(world):
    return Market(world)


def test_an_index_moves_as_one_does(market):
    """sh000300: 1.13 % a day in 2021 to 2026, 1.36 % since 2010; sh000852 1.51 and 1.69."""
    deviation = dict(zip((one.code for one in INDICES), market.index.std(axis=1) * 100, strict=True))
    assert all(1.1 <= deviation[code] <= 1.5 for code in ("000001", "399001", "000300", "000905", "000852"))
    assert 1.1 <= deviation["399006"] <= 1.7  # of sixteen stocks of ChiNext


def test_levels_stay_where_a_market_of_three_years_would(market):
    """0 to 8 % a year of the mean of the indices, and nothing like +85 % in fifteen months of one."""
    years = len(market.dates) / 243
    gain = market.levels[:, -1] / market.levels[:, 0]
    assert 1.0 <= float(gain.mean()) ** (1 / years) <= 1.08
    window = market.levels[:, LOADED:] / market.levels[:, :-LOADED]
    assert window.min() > 0.6
    assert window.max() < 1.6


def test_breadth_swings_as_in_the_real_market(market):
    """Share of rising stocks, real (all main boards, 2024H1 and 2026Q2-3): 5 % quantile 0.06 to 0.15, 95 %
    0.82 to 0.87, 0.24 to 0.30 from one day to the next."""
    share = np.nanmean(np.where(market.traded, market.change > 0, np.nan), axis=0)
    low, middle, high = np.quantile(share, [0.05, 0.5, 0.95])
    assert 0.10 <= low <= 0.30
    assert 0.40 <= middle <= 0.55
    assert 0.70 <= high <= 0.90
    assert 0.12 <= np.abs(np.diff(share)).mean() <= 0.25
    lopsided = (share < 4 / 60) | (share > 56 / 60)
    assert lopsided.mean() < 0.03
    assert not (lopsided[1:] & lopsided[:-1] & ((share[1:] > 0.5) != (share[:-1] > 0.5))).any()


def test_every_day_of_the_small_market_has_a_pool_and_a_broken_limit(market):
    assert (market.up[:, 1:].sum(axis=0) >= 1).all()
    assert (market.broken[:, 1:].sum(axis=0) >= 1).all()
    assert 20 <= np.median(market.per_5500(market.up)[1:]) <= 120  # one stock of sixty is 92 of 5,500
    assert market.per_5500(market.down).mean() <= 40
    highest = market.ladders()
    assert 5 <= highest.max() <= 7
    assert (highest[1:] >= 1).all()
    assert 0.25 <= (highest[1:] >= 2).mean() <= 0.6


def test_turnover_has_a_tail_and_no_clamp(market):
    """2024H1: median 1.4 %, 99 % at 18 %, highest 82.5 %."""
    known = market.turnover[np.isfinite(market.turnover)]
    assert 0.010 <= np.median(known) <= 0.018
    assert 0.12 <= np.quantile(known, 0.99) <= 0.25
    assert known.max() < 0.92
    highest = np.round(np.sort(known)[-40:], 6)
    assert len(np.unique(highest)) == len(highest)


def test_no_stock_jumps_without_an_event(world, market):
    """Only these moves exceed every price limit: listings, one re-listing and the first day of a delisting
    period."""
    explained = {"listing", "relisting", "delisting_period"}
    reported = {(f.symbol, f.date) for f in world.features if f.name in explained}
    for row, day in zip(*np.where(np.abs(market.change) > 0.31), strict=True):
        plan = world.plans[row]
        assert (plan.symbol, int(market.dates[day])) in reported
    back = np.nanmax(market.change[[p.symbol for p in world.plans].index("sz000108")])
    assert back < 0.5


def test_a_company_is_gone_and_one_rests_for_long(world):
    listed = {one.symbol for one in world.securities(NOW)}
    assert any(p.board and p.symbol not in listed and p.last_day is not None for p in world.plans)
    rests = [one for one in world.securities(NOW) if one.kind == "stock" and world.quote(one, NOW).suspended]
    assert rests
    assert any(not world.bars(one, NOW).traded[-30:].any() for one in rests)


def test_credit_is_a_share_of_the_float_and_none_of_special_treatment(world):
    """The whole market: 26,400 of about 90,000 in 1e8 CNY on 2026-08-20, 2.9 %."""
    book, view = MarginBook(), View(world, NOW)
    whole = []
    for day in world.trade_dates()[5:-40:40].tolist():
        rows = book.of_date(view, day)
        assert rows
        shares = [one.rzye / one.float_cap for one in rows]
        assert 0 <= min(shares) <= max(shares) <= 0.12
        assert not any("ST" in one.name or one.name.startswith("退市") for one in rows)
        assert not any(world.is_st(one.security, day) for one in rows)
        whole.append(sum(one.rzye for one in rows) / sum(one.float_cap for one in rows))
    assert 0.02 <= np.mean(whole) <= 0.045


def test_a_balance_of_credit_rolls_forward_exactly(world):
    rows = MarginBook().of_security(View(world, NOW), world.find("sh600041"))
    for before, after in itertools.pairwise(rows):
        assert after.rzye == before.rzye + after.rzmre - after.rzche
        assert min(after.rzmre, after.rzche) >= 0


def test_industries_have_their_published_codes():
    """Of the classification of 2021: not every number is one below the first level's."""
    codes = {one.name: one.index for one in ALL if one.level == "l2"}
    assert codes["电力"] == "801161"
    assert (codes["股份制银行"], codes["软件开发"], codes["通信设备"]) == ("801783", "801104", "801102")
    assert (codes["航空机场"], codes["医疗器械"], codes["白酒"]) == ("801991", "801153", "801125")
    assert len({one.index for one in ALL}) == len(ALL)


@pytest.mark.soak
def test_the_whole_market_day_by_day():
    """Profile L, the newest three years: limits, ladders, breadth, indices."""
    whole = Market(SyntheticWorld("L"))
    recent = slice(-730, None)
    ups, downs = whole.per_5500(whole.up)[recent], whole.per_5500(whole.down)[recent]
    assert np.quantile(ups, 0.10) >= 20
    assert np.quantile(ups, 0.90) <= 120
    assert np.quantile(downs, 0.90) <= 40
    assert (
        (whole.index[:, recent].std(axis=1) >= 0.010) & (whole.index[:, recent].std(axis=1) <= 0.015)
    ).all()
    years = whole.levels.shape[1] / 243
    gain = (whole.levels[:, -1] / whole.levels[:, 0]) ** (1 / years)
    assert ((gain >= 0.98) & (gain <= 1.08)).all()
    known = whole.turnover[:, recent]
    assert np.nanmax(known) < 0.92
