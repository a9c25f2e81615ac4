"""Paths, ticks and quotes within a day, and that nothing of the future is visible."""

from dataclasses import fields
from datetime import timedelta

import numpy as np
import pytest

from simulated_market.world.full import SyntheticWorld
from tests.simulated_market.world.moments import END, at

_DATES = (20240102, 20240620, 20250616, 20260313, 20260706, 20260821)


@pytest.mark.parametrize("date", _DATES)
def test_minutes_aggregate_exactly_to_the_daily_bar(world, date):
    now = at(date)
    seen = 0
    for security in world.securities(now):
        minutes, bars = world.minutes(security, date, now), world.bars(security, now)
        if minutes is None:
            assert not bars.traded[-1]
            continue
        seen += 1
        assert len(minutes.minute) == 240
        assert int(minutes.volume.sum()) == int(bars.volume[-1])
        assert round(float(minutes.amount.sum()), 2) == pytest.approx(float(bars.amount[-1]), abs=0.011)
        assert (minutes.high.max(), minutes.low.min()) == (bars.high[-1], bars.low[-1])
        assert (minutes.open[0], minutes.price[-1]) == (bars.open[-1], bars.close[-1])
        assert (minutes.high >= np.maximum(minutes.open, minutes.price)).all()
        assert (minutes.low <= np.minimum(minutes.open, minutes.price)).all()
        assert (minutes.volume >= 0).all()
    assert seen > 55


def test_the_mean_price_of_a_minute_is_in_its_range(world):
    now = at(20260821)
    outside = 0
    for security in world.securities(now):
        minutes = world.minutes(security, 20260821, now)
        if minutes is None or security.kind == "index":
            continue
        some = minutes.volume > 0
        fen = np.rint(minutes.amount[some] * 100)
        outside += int((fen * 100 < minutes.low[some] * minutes.volume[some] - 100).sum())
        outside += int((fen * 100 > minutes.high[some] * minutes.volume[some] + 100).sum())
    assert outside == 0


def test_the_closing_auction_gathers_orders_without_trades(world):
    minutes = world.minutes(world.find("sh600043"), 20260820, at(20260821))
    quiet = (minutes.minute == 898) | (minutes.minute == 899)
    assert minutes.volume[quiet].tolist() == [0, 0]
    assert minutes.volume[-1] > 0


def test_one_path_is_the_same_alone_and_among_all():
    alone, among = SyntheticWorld("S"), SyntheticWorld("S")
    now = at(20260821, "11:00")
    among.quote(among.find("sh600043"), now)  # makes the whole day
    for symbol in ("sh600043", "sz300114", "sh000001", "bj920004", "sh510001"):
        one, other = (w.minutes(w.find(symbol), 20260821, now) for w in (alone, among))
        for field in fields(one):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name))


@pytest.mark.parametrize(
    "symbol", ["sh600043", "sz000101", "sh688000", "bj920004", "sz300114", "sh113500", "sh900961"]
)
def test_ticks_add_up_to_the_minutes(world, symbol):
    security, now = world.find(symbol), at(20260820)
    ticks, bars = world.ticks(security, 20260820, now), world.bars(security, now)
    assert int(ticks.volume.sum()) == int(bars.volume[-1])
    assert (ticks.volume > 0).all()
    assert ticks.price.max() <= bars.high[-1]
    assert ticks.price.min() >= bars.low[-1]
    assert (ticks.price[0], ticks.price[-1]) == (bars.open[-1], bars.close[-1])
    clock = ticks.minute * 60 + ticks.second
    assert (np.diff(clock) >= 0).all()
    assert set(ticks.side.tolist()) <= {0, 1, 2}
    if ticks.side[0] == 2:
        assert int(ticks.minute[0]) == 565
    assert int(ticks.minute[-1]) in (896, 900)


@pytest.mark.parametrize(
    ("time", "date", "count"),
    [
        ("09:14", 20260820, 240),
        ("09:20", 20260821, 0),
        ("09:25", 20260821, 0),
        ("09:31", 20260821, 1),
        ("11:30", 20260821, 120),
        ("12:15", 20260821, 120),
        ("13:01", 20260821, 121),
        ("14:59", 20260821, 239),
        ("15:00", 20260821, 240),
        ("23:59", 20260821, 240),
    ],
)
def test_a_day_comes_into_being_minute_by_minute(world, time, date, count):
    security, now = world.find("sh600043"), at(20260821, time)
    quote, bars = world.quote(security, now), world.bars(security, now)
    assert quote.date == date
    opened = time not in ("09:14", "09:20")
    assert int(bars.date[-1]) == (20260821 if opened else 20260820)
    if time == "09:20":
        assert (quote.price, quote.open, quote.volume) == (quote.preclose, 0, 0)
        return
    minutes = world.minutes(security, date, now)
    assert len(minutes.minute) == count
    if count:
        assert quote.volume == int(minutes.volume.sum()) == int(bars.volume[-1])
        assert quote.price == int(minutes.price[-1]) == int(bars.close[-1])
        assert quote.amount == pytest.approx(float(minutes.amount.sum()), abs=0.01)
        assert (quote.high, quote.low) == (int(bars.high[-1]), int(bars.low[-1]))
    else:
        assert quote.price == quote.open == quote.high == quote.low
        assert quote.volume > 0
        assert quote.amount == pytest.approx(quote.volume * quote.price / 1e4)
    assert quote.inner_volume + quote.outer_volume == quote.volume


def test_running_values_only_grow(world):
    security = world.find("sz300000")
    before = None
    for time in ("09:25", "09:31", "10:00", "11:30", "13:30", "14:57", "15:00"):
        quote = world.quote(security, at(20260821, time))
        if before:
            assert quote.volume >= before.volume
            assert quote.amount >= before.amount
            assert quote.high >= before.high
            assert quote.low <= before.low
        before = quote


def test_books_are_ordered_and_within_the_limits(world):
    now = at(20260821, "10:30")
    for security in world.securities(now):
        quote = world.quote(security, now)
        if quote.suspended or security.kind == "index":
            assert quote.bids == quote.asks == ()
            continue
        bids, asks = [p for p, _ in quote.bids], [p for p, _ in quote.asks]
        assert bids == sorted(bids, reverse=True)
        assert asks == sorted(asks)
        assert len(bids) <= 5
        assert len(asks) <= 5
        if bids and asks:
            assert bids[0] < asks[0]
            assert quote.price in (bids[0], asks[0])
        if quote.limit_up:
            assert all(quote.limit_down <= p <= quote.limit_up for p in bids + asks)
        assert all(volume > 0 for _, volume in quote.bids + quote.asks)


def test_a_sealed_stock_has_one_side(world):
    up = world.quote(world.find("sh600140"), at(20260821))
    assert up.price == up.limit_up == up.bids[0][0]
    assert up.asks == ()
    assert up.bids[0][1] > sum(v for _, v in up.bids[1:])
    down = world.quote(world.find("sz001402"), at(20260821))
    assert down.price == down.limit_down == down.asks[0][0]
    assert down.bids == ()


def test_a_sealed_path_stays_at_the_limit(world):
    bars = world.bars(world.find("sh600140"), at(20260821))
    minutes = world.minutes(world.find("sh600140"), 20260821, at(20260821))
    first = int(np.argmax(minutes.price == bars.close[-1]))
    assert (minutes.price[first:] == bars.close[-1]).mean() > 0.7
    assert minutes.price[-1] == bars.close[-1]


def test_index_breadth_of_the_running_day(world):
    now = at(20260821, "10:00")
    index = world.quote(world.find("sh000001"), now)
    stocks = [world.quote(s, now) for s in world.securities(now) if s.kind == "stock" and s.market == "SH"]
    live = [q for q in stocks if not q.suspended]
    assert index.up_count == sum(q.price > q.preclose for q in live)
    assert index.down_count == sum(q.price < q.preclose for q in live)


def test_nothing_later_than_now_is_visible(world):
    now = at(20250611, "10:00")
    today = 20250611
    for security in world.securities(now):
        assert int(world.bars(security, now).date[-1]) <= today
        assert all(r.date <= today for r in world.exrights(security, now))
        assert world.minutes(security, 20250612, now) is None
        assert world.ticks(security, 20250612, now) is None
        assert all(f.date <= today for f in world.flows(security, now))
        assert all(r.published <= today for r in world.reports(security, now))
        assert security.delist_date is None
        assert security.list_date <= today


def test_moving_now_changes_no_earlier_row(world):
    early, late = at(20260820), at(20260820) + timedelta(days=1)
    for security in world.securities(early):
        before, after = world.bars(security, early), world.bars(security, late)
        assert len(after) == len(before) + 1
        for field in fields(before):
            old, new = getattr(before, field.name), getattr(after, field.name)[: len(before)]
            assert np.array_equal(old, new, equal_nan=old.dtype.kind == "f"), (security.symbol, field.name)
        assert list(world.exrights(security, late))[: len(world.exrights(security, early))] == list(
            world.exrights(security, early)
        )


def test_outside_the_sessions_the_last_state_stays(world):
    saturday, friday = at(20260822, "11:00"), at(20260821)
    security = world.find("sh600043")
    assert world.quote(security, saturday) == world.quote(security, friday)
    assert world.quote(security, at(20231229)) is None
    assert len(world.bars(security, at(20231229))) == 0
    assert len(world.bars(security, at(20270301))) == len(world.bars(security, END))
