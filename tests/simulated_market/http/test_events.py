"""Billboard, deals and releases of a world: every rule holds, nothing is early, and the wire says what is."""

import json
from datetime import date, datetime
from pathlib import Path

import pytest

from simulated_market import lockups
from simulated_market.billboard import Billboard
from simulated_market.block_trades import BlockTrades
from simulated_market.eastmoney.conditions import Conditions
from simulated_market.eastmoney.events import (
    Events,
    deal_row,
    listing_row,
    release_row,
    seat_row,
)
from simulated_market.wire import View
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.replay import ReplayWorld

PAYLOADS = Path(__file__).parents[2] / "upstreams/eastmoney/payloads"
SLICE = Path(__file__).parents[2] / "real_data"
DAY = 20260820


@pytest.fixture(scope="module")
def world() -> SyntheticWorld:
    return SyntheticWorld("S")


def view(world: object, text: str = "2026-08-21T20:00") -> View:
    return View(world, datetime.fromisoformat(text))  # type: ignore[arg-type]


def days(world: SyntheticWorld) -> list[int]:
    return [int(day) for day in world.trade_dates() if 20260601 <= day <= DAY]


def test_nothing_is_listed_or_dealt_before_it_is_published(world: SyntheticWorld) -> None:
    for book in (Billboard(), BlockTrades()):
        assert book.of_date(view(world, "2026-08-20T17:59"), DAY) == []
        assert book.of_date(view(world, "2026-08-20T18:00"), DAY)
        assert book.of_date(view(world), 20260822) == []  # a Saturday


def test_facts_do_not_depend_on_when_they_are_asked_for(world: SyntheticWorld) -> None:
    early, late = view(world, "2026-08-20T18:00"), view(world, "2026-12-01T09:00")
    board, deals = Billboard(), BlockTrades()
    then = [(one.security.code, one.kind, one.buyers, one.sellers) for one in board.of_date(early, DAY)]
    assert then == [(one.security.code, one.kind, one.buyers, one.sellers)
                    for one in Billboard().of_date(late, DAY)]  # fmt: skip
    assert [(one.price, one.volume) for one in deals.of_date(early, DAY)] == [
        (one.price, one.volume) for one in BlockTrades().of_date(late, DAY)
    ]


def test_what_follows_a_listing_is_null_until_it_has_closed(world: SyntheticWorld) -> None:
    one = Billboard().of_date(view(world), DAY)[0]

    def after(text: str) -> list[bool]:
        row = listing_row(one, view(world, text))
        return [row[f"D{step}_CLOSE_ADJCHRATE"] is None for step in (1, 2, 5, 10)]

    assert after("2026-08-20T20:00") == [True, True, True, True]
    assert after("2026-08-21T14:59") == [True, True, True, True]
    assert after("2026-08-21T15:00") == [False, True, True, True]
    assert after("2026-09-30T15:00") == [False, False, False, False]


def test_every_listing_is_true_and_its_seats_add_up(world: SyntheticWorld) -> None:
    book, now = Billboard(), view(world)
    listings = [one for day in days(world) for one in book.of_date(now, day)]
    assert len(listings) > 50
    for one in listings:
        if one.reason.startswith("日涨幅偏离值"):
            assert one.bar.change_pct > 0
        if "换手率达到20%" in one.reason:
            assert one.bar.turnover_pct >= 20
        row = listing_row(one, now)
        assert row["BILLBOARD_NET_AMT"] == pytest.approx(one.bought - one.sold, abs=0.01)
        assert row["BILLBOARD_DEAL_AMT"] <= 2 * one.accumulated
        assert [seat.bought for seat in one.buyers] == sorted((s.bought for s in one.buyers), reverse=True)
    assert {one.security.kind for one in listings} == {"stock", "b", "cb"}
    assert {one.days for one in listings} == {1, 3}
    top = {(one.date, one.kind, one.security.market): 0 for one in listings if one.days == 1}
    for one in listings:
        if one.days == 1 and "前5只" in one.reason:
            top[one.date, one.kind, one.security.market] += 1
    assert max(top.values()) <= 5


def test_deals_are_within_the_day_and_some_come_twice(world: SyntheticWorld) -> None:
    book, now = BlockTrades(), view(world)
    deals = [one for day in days(world) for one in book.of_date(now, day)]
    for one in deals:
        preclose = int(one.bar.bars.preclose[one.bar.place]) / 10_000
        assert abs(one.price - preclose) <= 0.049 * preclose + 0.006
        assert one.volume % 100 == 0
        assert one.amount == pytest.approx(one.price * one.volume)
    lines = [(one.security.code, one.date, one.price, one.volume, one.buyer, one.seller) for one in deals]
    assert len(set(lines)) < len(lines)
    assert {one.security.kind for one in deals} >= {"stock", "b"}


def test_rows_have_the_columns_that_were_recorded(world: SyntheticWorld) -> None:
    now = view(world)
    listing = Billboard().of_date(now, DAY)[0]
    (release, *_) = lockups.releases(now, date(2026, 1, 1), date(2027, 1, 1))
    recorded = json.loads((PAYLOADS / "em_dc_billboard_600105.json").read_bytes())["result"]["data"][0]
    assert set(recorded) <= set(listing_row(listing, now))
    recorded = json.loads((PAYLOADS / "em_dc_corporate_actions_20260728.json").read_bytes())
    made = release_row(release)
    assert set(recorded["RPT_LIFT_STAGE"][0]) <= set(made)
    assert made["CURRENT_FREE_SHARES"] * made["NEW"] == pytest.approx(made["LIFT_MARKET_CAP"], abs=1e-5)
    seat = seat_row(listing, listing.buyers[0], "0", 1)
    assert seat["NET"] == pytest.approx((seat["BUY_AMT_REAL"] or 0) - (seat["SELL_AMT_REAL"] or 0))
    deal = next(one for one in BlockTrades().of_date(now, DAY) if one.security.kind == "stock")
    assert deal_row(deal, now, 1)["SECURITY_TYPE_WEB"] == 1


def test_a_plan_is_known_half_a_year_before_and_a_listing_binds_from_its_day(world: SyntheticWorld) -> None:
    far = (date(2026, 8, 1), date(2028, 8, 1))
    known = {(one.security.code, one.date) for one in lockups.releases(view(world), *far)}
    later = {(one.security.code, one.date) for one in lockups.releases(view(world, "2026-12-01T09:00"), *far)}
    assert known < later
    listed = next(one for one in world.securities(view(world).now) if one.code == "688043")
    assert {day for code, day in known if code == listed.code} >= {date(2027, 8, 18)}
    before = lockups.releases(view(world, "2026-08-17T09:00"), *far)
    assert all(one.security.code != listed.code for one in before)


def test_a_world_of_real_bars_answers_in_the_same_form() -> None:
    world = ReplayWorld(SLICE)
    last = int(world.trade_dates()[-5])
    now = View(world, datetime.strptime(f"{last} 20:00", "%Y%m%d %H:%M"))
    text = f"{last // 10_000}-{last // 100 % 100:02}-{last % 100:02}"
    conditions = Conditions([("TRADE_DATE", ">=", [f"{text[:8]}01"]), ("TRADE_DATE", "<=", [text])])
    reports = Events().reports()
    for name in ("RPT_DAILYBILLBOARD_DETAILSNEW", "RPT_OPERATEDEPT_TRADE", "RPT_DATA_BLOCKTRADE"):
        assert all(row["TRADE_DATE"][:10] <= text for row in reports[name](now, conditions))
    assert isinstance(reports["RPT_LIFT_STAGE"](now, Conditions([("FREE_DATE", "<=", [text])])), list)
