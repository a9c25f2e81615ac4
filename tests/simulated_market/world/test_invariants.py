"""What no row of a synthetic market may break, over every instrument and session of profile S."""

import numpy as np
import pytest

from core.market import rules, securities
from simulated_market.world.engine import reference_price
from simulated_market.world.indices import INDICES, SETTLING_DAYS
from tests.simulated_market.world.moments import END, at


@pytest.fixture(scope="module")
def world_bars(world):
    return world.world_bars


def test_prices_are_ordered(world_bars):
    traded = world_bars.traded
    assert (world_bars.low[traded] <= np.minimum(world_bars.open, world_bars.close)[traded]).all()
    assert (world_bars.high[traded] >= np.maximum(world_bars.open, world_bars.close)[traded]).all()
    assert (world_bars.low[traded] >= 1).all()


def test_nothing_trades_outside_the_limits(world_bars):
    limited = world_bars.traded & (world_bars.limit_up > 0)
    assert (world_bars.high[limited] <= world_bars.limit_up[limited]).all()
    assert (world_bars.low[limited] >= world_bars.limit_down[limited]).all()
    assert limited.sum() > 0.95 * world_bars.traded[: -len(INDICES)].sum()


def test_limits_agree_with_the_rules_of_the_day(world):
    for security in world.securities(END):
        if security.kind not in ("stock", "etf", "lof", "reit", "cb", "b"):
            continue
        bars = world.bars(security, END)
        place = world.place(security)
        plan = world.plans[place]
        first = max(plan.list_day, 0)
        for k in range(0, len(bars), 7):
            date = int(bars.date[k])
            if plan.relisting_day == first + k:
                assert world.limits(security, date) is None
                continue
            listed = first + k - plan.list_day + 1 if plan.list_day >= 0 else None
            scope = security.board or plan.band or security.kind
            expected = rules.price_limits(
                bars.preclose[k] / 10_000, scope, world.is_st(security, date), date, listed
            )
            if plan.decimals == 2 and security.kind == "b":
                continue  # Shenzhen B shares quote in 0.01 HKD; the rule row keeps Shanghai's tick
            found = world.limits(security, date)
            assert (None, None) if found is None else found == tuple(round(x * 10_000) for x in expected)


def test_mean_price_is_within_the_day(world):
    for security in world.securities(END):
        if security.kind == "index":
            continue
        bars = world.bars(security, END)
        t = bars.traded
        fen = np.rint(bars.amount[t] * 100).astype(np.int64)
        assert (fen * 100 >= bars.low[t] * bars.volume[t] - 100).all(), security.symbol
        assert (fen * 100 <= bars.high[t] * bars.volume[t]).all(), security.symbol


def test_preclose_is_the_ex_right_reference_of_the_last_close(world):
    world_bars = world.world_bars
    for place, plan in enumerate(world.plans):
        events = {a.day: a for a in world_bars.applied[place]}
        first = max(plan.list_day, 0)
        last = len(world_bars.dates) - 1 if plan.last_day is None else plan.last_day
        for day in range(first + 1, last + 1):
            before = int(world_bars.close[place, day - 1])
            event = events.get(day)
            expected = reference_price(before, plan.tick_unit, event) if event else before
            assert int(world_bars.preclose[place, day]) == expected, (plan.symbol, day)


@pytest.mark.parametrize(
    ("close", "cash", "bonus", "rights", "rights_price", "expected"),
    [
        (2044, 21.67, 0, 0, 0, 1827),  # 20.44 - 2.167 = 18.273
        (1000, 0, 10, 0, 0, 500),
        (1001, 0, 10, 0, 0, 501),  # 5.005 rounds half up
        (1550, 0, 0, 3, 8.2, 1382),
        (1260, 2.0, 4.9, 0, 0, 832),
    ],
)
def test_reference_price_formula(close, cash, bonus, rights, rights_price, expected):
    from simulated_market.world.bars import Applied

    event = Applied(1, cash, rights_price, bonus, rights, 0.0, (0, 0), (0, 0))
    assert reference_price(close, 100, event) == expected


def test_suspended_rows_hold_the_reference_price_and_no_volume(world_bars):
    off = (~world_bars.traded) & (world_bars.preclose > 0)
    assert off.sum() > 300
    for column in (world_bars.open, world_bars.high, world_bars.low, world_bars.close):
        assert (column[off] == world_bars.preclose[off]).all()
    assert (world_bars.volume[off] == 0).all()
    assert (world_bars.amount[off] == 0).all()


def test_index_return_is_that_of_its_weighted_members(world):
    world_bars, n = world.world_bars, len(world.plans)
    listed_from = np.asarray([max(p.list_day, 0) for p in world.plans])
    settled = np.asarray([p.list_day + SETTLING_DAYS if p.list_day >= 0 else 0 for p in world.plans])
    stock = np.asarray([bool(p.board) for p in world.plans])
    leaps = (
        stock[:, None]
        & world_bars.traded[:n]
        & (np.abs(world_bars.close[:n] / np.maximum(world_bars.preclose[:n], 1) - 1) > 0.31)
    )
    leaping = np.flatnonzero(leaps.any(axis=0) & (world_bars.limit_up[:n] == 0).any(axis=0)).tolist()
    assert leaping  # a listing, the re-listing: their days are compared as well
    for day in sorted({*range(1, len(world_bars.dates), 13), *(one for one in leaping if one)}):
        shares = np.zeros(n)
        for i, changes in enumerate(world_bars.shares):
            shares[i] = next(c.total for c in reversed(changes) if c.day <= day or c is changes[0])
        alive = (world_bars.preclose[:n, day] > 0) & (listed_from <= day) & (settled <= day) & stock
        for k in range(len(INDICES)):
            member = alive & (world_bars.members[world_bars.period[day]] >> k & 1).astype(bool)
            member &= world_bars.limit_up[:n, day] > 0  # a re-listing and its like move no level
            weight = (shares * world_bars.preclose[:n, day].astype(float))[member]
            most = max(0.05, 1.5 / len(weight)) * weight.sum()
            weight = np.minimum(weight, most)
            change = world_bars.close[:n, day][member] / world_bars.preclose[:n, day][member]
            index = world_bars.close[n + k, day] / world_bars.preclose[n + k, day]
            assert index == pytest.approx(float((weight * change).sum() / weight.sum()), abs=1e-4)


def test_index_breadth_is_that_of_the_stocks(world):
    now = at(20260821)
    stocks = [s for s in world.securities(now) if s.kind == "stock"]
    bars = {s.symbol: world.bars(s, now) for s in stocks}
    for symbol, market in (("sh000001", "SH"), ("sz399001", "SZ")):
        moved = [
            int(np.sign(b.close[-1] - b.preclose[-1]))
            for s, b in ((s, bars[s.symbol]) for s in stocks if s.market == market)
            if b.traded[-1]
        ]
        index = world.bars(world.find(symbol), now)
        assert int(index.up_count[-1]) == moved.count(1)
        assert int(index.down_count[-1]) == moved.count(-1)


def test_flows_balance(world):
    for symbol in ("sh600043", "sz300000", "sh688000"):
        flows = world.flows(world.find(symbol), at(20260821))
        assert 0 < len(flows) <= 120
        for flow in flows:
            nets = (
                flow.super_large_in - flow.super_large_out, flow.large_in - flow.large_out,
                flow.medium_in - flow.medium_out, flow.small_in - flow.small_out,
            )  # fmt: skip
            assert sum(nets) == pytest.approx(0, abs=0.005)
            assert min(flow.super_large_in, flow.super_large_out, flow.large_in, flow.large_out) >= 0
            assert min(flow.medium_in, flow.medium_out, flow.small_in, flow.small_out) >= 0


def test_every_kind_that_a_loader_must_filter_is_there(world):
    now = at(20260821)
    kinds = [s.kind for s in world.securities(now)]
    assert {"stock", "index", "etf", "lof", "cb", "reit", "b"} == set(kinds)
    assert kinds.count("b") == 2
    assert kinds.count("index") == 6
    assert len({p.symbol for p in world.plans if p.board}) == 60
    for security in world.securities(now):
        assert security.kind == securities.sec_type_of(security.code, security.market), security
        assert security.board == securities.board_of(security.code, security.market), security


def test_order_of_securities_is_stable(world):
    listed = list(world.securities(at(20260821)))
    assert listed == sorted(listed, key=lambda s: (s.market, s.code))


def test_turnover_is_volume_over_float_shares(world):
    security = world.find("sh600124")
    bars = world.bars(security, END)
    row = len(bars) - 1
    floating = world.shares(security, END)[1]
    assert bars.turnover_pct[row] == pytest.approx(bars.volume[row] / floating * 100, abs=1e-4)


def test_boards_list_listed_stocks_only(world):
    now = at(20240102)
    listed = {s.symbol for s in world.securities(now)}
    boards = world.boards(now)
    assert {b.kind for b in boards} == {"industry", "concept", "region"}
    assert len({b.code for b in boards}) == len(boards)
    for board in boards:
        assert set(board.members) <= listed
    assert {m for b in boards if b.kind == "industry" for m in b.members} == {
        s.symbol for s in world.securities(now) if s.kind == "stock"
    }


def test_an_index_is_made_of_its_listed_members(world):
    """The sums of its members' volumes are the index's own."""
    for one in INDICES:
        index = world.find(f"{one.market.lower()}{one.code}")
        members = world.index_members(index, END)
        bars = world.bars(index, END)
        volume = sum(int(world.bars(member, END).volume[-1]) for member in members)
        assert volume == int(bars.volume[-1])
    assert world.index_members(world.find(members[0].symbol), END) == ()
