"""Stylised facts of profile M: a sample that behaves unlike a market teaches the product wrong things."""

import numpy as np
import pytest

from simulated_market.world.parameters import parameters


class Facts:
    """Return, turnover and limit statistics over all stocks and sessions."""

    def __init__(self, world):
        world_bars = world.world_bars
        self.n = sum(1 for p in world.plans if p.board)
        n = self.n
        self.days = len(world_bars.dates)
        self.ok = world_bars.traded[:n] & (world_bars.limit_up[:n] > 0)
        self.close, self.pre = world_bars.close[:n].astype(float), world_bars.preclose[:n].astype(float)
        self.ret = np.where(self.ok, self.close / np.maximum(self.pre, 1) - 1, np.nan)
        self.sealed = self.ok & (world_bars.close[:n] == world_bars.limit_up[:n])
        self.touched = self.ok & (world_bars.high[:n] == world_bars.limit_up[:n])
        self.high, self.low, self.open = (
            getattr(world_bars, x)[:n].astype(float) for x in ("high", "low", "open")
        )
        floating = np.ones((n, self.days))
        for i in range(n):
            for change in world_bars.shares[i]:
                floating[i, change.day :] = change.floating
        self.turnover = np.where(self.ok, world_bars.volume[:n] / floating, np.nan)
        self.board = np.asarray([p.board for p in world.plans[:n]])

    def rows(self, values, least=300):
        for i in range(self.n):
            row = values[i][self.ok[i]]
            if len(row) >= least:
                yield row


@pytest.fixture(scope="module")
def facts(medium):
    return Facts(medium)


def lag_one(row):
    x = row - row.mean()
    return float((x[1:] * x[:-1]).mean() / (x * x).mean())


def test_daily_deviation(facts):
    sds = [row.std() for row in facts.rows(facts.ret)]
    assert 0.022 <= float(np.mean(sds)) <= 0.038


def test_tails_are_fat(facts):
    pooled = facts.ret[facts.ok]
    z = (pooled - pooled.mean()) / pooled.std()
    assert float((z**4).mean() - 3) > 3


def test_volatility_clusters_and_returns_do_not(facts):
    assert 0.10 <= np.mean([lag_one(np.abs(row)) for row in facts.rows(facts.ret)]) <= 0.30
    assert -0.05 <= np.mean([lag_one(row) for row in facts.rows(facts.ret)]) <= 0.06


def test_market_share_of_variance(facts):
    """0.18 in bars_daily_raw_hs300_2020_2025; 0.43 in the first half of 2024, a fall of small caps."""
    market = np.nanmean(facts.ret, axis=0)
    assert 0.13 <= market.var() / np.nanmean([row.var() for row in facts.rows(facts.ret)]) <= 0.30


def test_limit_ups(facts):
    per_thousand = facts.sealed.sum() / facts.ok.sum() * 1000
    assert 8 <= per_thousand <= 25
    assert 0.6 <= facts.sealed.sum() / facts.touched.sum() <= 0.85
    promoted = (facts.sealed[:, 1:] & facts.sealed[:, :-1]).sum() / facts.sealed[:, :-1].sum()
    assert 0.15 <= promoted <= 0.35


def test_open_gap_and_range(facts):
    ok = facts.ok
    gap = (facts.open[ok] / facts.pre[ok]) - 1
    body = (facts.close[ok] / facts.open[ok]) - 1
    spread = (facts.high[ok] - facts.low[ok]) / facts.pre[ok]
    assert 0.010 <= gap.std() <= 0.018
    assert 0.020 <= body.std() <= 0.034
    assert abs(np.corrcoef(gap, body)[0, 1]) <= 0.1
    assert 0.028 <= spread.mean() <= 0.040
    assert 0.022 <= np.median(spread) <= 0.034


def test_turnover(facts):
    logs = [np.log(row) for row in facts.rows(facts.turnover)]
    assert 0.7 <= np.mean([lag_one(row) for row in logs]) <= 0.9
    assert 0.55 <= np.mean([row.std() for row in logs]) <= 0.80
    assert 0.65 <= np.std([row.mean() for row in logs]) <= 0.95
    returns = [np.abs(row) for row in facts.rows(facts.ret)]
    together = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(logs, returns, strict=True)])
    assert 0.35 <= together <= 0.60
    assert 0.010 <= np.nanmedian(facts.turnover) <= 0.020


def test_boards_differ(facts):
    by_board = {b: np.nanmean(facts.ret[facts.board == b] ** 2) ** 0.5 for b in ("main", "gem", "star")}
    assert by_board["main"] < by_board["gem"] < by_board["star"] * 1.1


def test_crash_and_rally(medium):
    world_bars, n = medium.world_bars, sum(1 for p in medium.plans if p.board)

    def shares(date):
        day = int(np.searchsorted(world_bars.dates, date))
        ok = world_bars.traded[:n, day]
        down = (world_bars.close[:n, day] == world_bars.limit_down[:n, day])[ok].mean()
        up = (world_bars.close[:n, day] == world_bars.limit_up[:n, day])[ok].mean()
        return down, up, (world_bars.close[:n, day] > world_bars.preclose[:n, day])[ok].mean()

    assert shares(20220419)[0] > 0.25
    assert shares(20230310)[1] > 0.15
    assert shares(20230310)[2] > 0.95


def test_population(medium):
    stocks = [p for p in medium.plans if p.board]
    years = len(medium.trade_dates()) / 243
    listings = sum(p.list_day >= 0 for p in stocks) / years / len(stocks)
    gone = sum(p.last_day is not None for p in stocks) / years / len(stocks)
    events = sum(len(a) for a in medium.world_bars.applied) / years / len(stocks)
    assert 100 / 5500 <= listings <= 520 / 5500
    assert 20 / 5500 * 0.5 <= gone <= 50 / 5500 * 1.5
    assert 0.55 <= events <= 1.1
    boards = [p.board for p in stocks]
    assert boards.count("main") / len(boards) == pytest.approx(0.58, abs=0.01)
    assert boards.count("star") / len(boards) == pytest.approx(0.11, abs=0.01)
    names = [p.names[0][1] for p in stocks]
    assert len(set(names)) == len(names)


def test_market_caps_are_lognormal(medium):
    from tests.simulated_market.world.moments import at

    now = at(20220104)
    caps = [
        float(np.log(medium.valuation(s, now).total_market_cap))
        for s in medium.securities(now)
        if s.kind == "stock"
    ]
    get = parameters().get
    assert np.mean(caps) == pytest.approx(get("cap_log_mean"), abs=0.2)
    assert np.std(caps) == pytest.approx(get("cap_log_sd"), abs=0.15)
