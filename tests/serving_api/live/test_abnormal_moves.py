"""Abnormal moves: three kinds, each with its own age and its own failure, and the gate of the auction."""

from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from core.errors import Unavailable
from platform_assets.compute.auction import direction
from serving_api.live import segments
from serving_api.realtime import abnormal_moves
from serving_api.realtime.abnormal_moves import AbnormalMoves
from simulated_market.world.model import PRICE_UNIT
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.conftest import BEFORE

AUCTION = datetime(2026, 8, 21, 9, 26)
KINDS = ("auction", "intraday", "deviation")


def moves(bench: FetchContext, **params: Any) -> dict[str, Any]:
    answer = bench.api.get("/realtime/abnormal-moves", params=params)
    assert answer.status_code == 200, answer.text
    reported: dict[str, Any] = answer.json()
    return reported


def asked(bench: FetchContext) -> Counter[str]:
    """Calls so far of what the three kinds are made from."""
    calls = bench.market.calls()
    portal = calls.get("eastmoney", {})
    return Counter(
        pool=sum(count for name, count in portal.items() if "pool" in name.lower()),
        auction=bench.market.terminal_calls().get("auction", 0),
        changes=portal.get("stock_changes", 0),
    )


def limit_ups(bench: FetchContext) -> set[str]:
    """Of the session before, by the world's own bars."""
    found = set()
    number = int(BEFORE.replace("-", ""))
    for one in bench.world.securities(bench.clock.now()):
        if one.kind != "stock":
            continue
        quote = bench.world.quote(one, datetime.fromisoformat(f"{BEFORE}T15:00:00"))
        if quote and quote.date == number and not quote.suspended and quote.limit_up == quote.price:
            found.add(one.code)
    return found


@pytest.mark.parametrize(
    ("change", "unmatched", "expected"),
    [
        (2.0, 100, "抢筹"), (9.9, 1, "抢筹"), (1.99, 100, "均衡"), (5.0, -100, "均衡"), (5.0, 0, "均衡"),
        (-2.0, -100, "抛压"), (-1.99, -100, "均衡"), (-5.0, 100, "均衡"),
        (2.9, None, "均衡"), (3.0, None, "抢筹"), (-3.0, None, "抛压"),
    ],
)  # fmt: skip
def test_direction_by_the_written_rule(change: float, unmatched: int | None, expected: str) -> None:
    assert direction(change, unmatched) == expected


def test_the_auction_is_yesterdays_limit_ups_at_todays_opening_price(bench: FetchContext) -> None:
    bench.clock.at = AUCTION
    reported = moves(bench, limit=50)

    assert (reported["auction_status"], reported["auction_date"]) == ("ready", BEFORE.replace("-", ""))
    assert {item["code"] for item in reported["auction"]} == limit_ups(bench)
    assert reported["counts"]["auction"] == len(reported["auction"]) > 0
    for item in reported["auction"]:
        one = bench.world.find(next(s for s in (f"sh{item['code']}", f"sz{item['code']}", f"bj{item['code']}")
                                    if bench.world.find(s)))  # fmt: skip
        assert one is not None
        quote = bench.world.quote(one, bench.clock.now())
        assert quote is not None
        assert item["auction_price"] == quote.open / PRICE_UNIT
        assert item["prev_close"] == quote.preclose / PRICE_UNIT
        assert item["change_pct"] == pytest.approx((quote.open / quote.preclose - 1) * 100, abs=0.006)
        assert item["matched_vol"] > 0
        if item["change_pct"] >= 2 and item["unmatched_vol"] > 0:
            assert item["direction"] == "抢筹"


def test_until_0925_the_price_is_virtual_and_volumes_gather(bench: FetchContext) -> None:
    bench.clock.at = AUCTION.replace(minute=18)
    early = {item["code"]: item for item in moves(bench, limit=50)["auction"]}
    bench.clock.at = AUCTION
    bench.ticks.advance(21)
    late = {item["code"]: item for item in moves(bench, limit=50)["auction"]}
    assert early.keys() == late.keys()
    assert all(0 < early[code]["matched_vol"] < late[code]["matched_vol"] for code in late)
    assert any(early[code]["auction_price"] != late[code]["auction_price"] for code in late)


@pytest.mark.parametrize(
    ("now", "status", "day"),
    [
        ("2026-08-21T08:59:00", "pre_auction", "20260820"),
        ("2026-08-21T09:14:59", "pre_auction", "20260820"),
        ("2026-08-22T10:30:00", "non_trading_day", "20260821"),
        ("2026-10-01T10:30:00", "non_trading_day", "20260930"),
    ],
)
@pytest.mark.parametrize("use_cache", ["true", "false"])
def test_outside_an_auction_no_source_is_asked(
    bench: FetchContext, now: str, status: str, day: str, use_cache: str
) -> None:
    bench.clock.at = datetime.fromisoformat(now)
    reported = moves(bench, use_cache=use_cache)
    assert (reported["auction_status"], reported["auction_date"]) == (status, day)
    assert reported["auction"] == []
    seen = asked(bench)
    assert (seen["pool"], seen["auction"]) == (0, 0)
    assert reported["deviation"] != [], "the other kinds are told all the same"


def test_each_kind_is_cached_for_its_own_time(bench: FetchContext) -> None:
    bench.clock.at = AUCTION
    first = moves(bench)
    once = asked(bench)
    assert once["auction"] >= len(first["auction"]) > 0, "the counter of the terminal counts"
    assert once["pool"] > 0
    assert first["cached"] is False
    bench.ticks.advance(19)
    again = moves(bench)
    assert again["cached"] is True
    assert asked(bench) == once
    assert {kind: again[kind] for kind in KINDS} == {kind: first[kind] for kind in KINDS}
    bench.ticks.advance(2)
    moves(bench)
    assert asked(bench)["auction"] == 2 * once["auction"], "inside 09:15 to 09:30 after 20 seconds"
    bench.clock.at = AUCTION.replace(hour=10)
    bench.ticks.advance(21)
    moves(bench)
    after = asked(bench)
    bench.ticks.advance(1_700)
    moves(bench)
    assert asked(bench)["auction"] == after["auction"], "outside them for half an hour"
    assert asked(bench)["changes"] == after["changes"] + 1
    moves(bench, use_cache="false")
    assert asked(bench)["auction"] == after["auction"] + once["auction"]


def test_one_kind_that_fails_hides_no_other(bench: FetchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.clock.at = AUCTION.replace(hour=10)

    def away(*_: Any) -> Any:
        raise Unavailable("away")

    with monkeypatch.context() as patched:
        for source in ("by_terminal", "by_quote_site"):
            patched.setattr(abnormal_moves, source, away)
        without = moves(bench)
    assert without["auction"] == []
    assert without["intraday"]
    assert without["deviation"]
    bench.ticks.advance(19)
    assert moves(bench)["auction"] == [], "an empty kind is kept for 20 seconds"
    bench.ticks.advance(2)
    assert moves(bench)["auction"] != []


def test_the_quote_site_has_prices_while_the_terminal_is_unavailable(bench: FetchContext) -> None:
    bench.clock.at = AUCTION.replace(hour=10)
    whole = moves(bench, limit=50)["auction"]
    bench.silence("tdx")
    reported = moves(bench, limit=50, use_cache="false")["auction"]
    same = ("code", "auction_price", "prev_close", "change_pct", "limit_days")
    assert [[item[name] for name in same] for item in reported] == [
        [item[name] for name in same] for item in whole
    ]
    assert {item["matched_vol"] for item in reported} == {None}


def test_a_slow_kind_is_left_behind(bench: FetchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "WAIT_S", 1.0)
    bench.clock.at = AUCTION.replace(hour=10)
    slow = {"upstream": "eastmoney", "call": "stock_changes", "kind": "slow", "count": 1}
    bench.faults.replace([{**slow, "args": {"bytes_per_second": 600}}])
    first = moves(bench)
    assert (first["intraday"], first["deviation"] != []) == ([], True)
    running = bench.app.state.platform.part(AbnormalMoves)._intraday
    bench.api.call(running.settled)
    assert moves(bench)["intraday"] != [], "what it found late fills the cache"


@pytest.mark.parametrize(("limit", "most"), [(1, 5), (-3, 5), (7, 7), (500, 50)])
def test_the_limit_is_clamped(bench: FetchContext, limit: int, most: int) -> None:
    bench.clock.at = datetime(2026, 8, 21, 14, 50)
    reported = moves(bench, limit=limit)
    assert len(reported["intraday"]) == most
    assert all(len(reported[kind]) <= most for kind in KINDS)
    assert bench.api.get("/realtime/abnormal-moves", params={"limit": "x"}).status_code == 422


def test_deviation_names_listings_for_a_deviation_alone(bench: FetchContext) -> None:
    reported = moves(bench)["deviation"]
    assert reported
    assert all("偏离" in item["reason"] for item in reported)
    assert {item["date"] for item in reported} == {BEFORE}
    nets = [item["net_buy"] for item in reported]
    assert nets == sorted(nets, reverse=True)
