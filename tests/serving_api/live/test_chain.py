"""The step chain: who is asked when, what is shared, kept and stored, and what a bad source costs."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from core.calendar import shipped_calendar
from serving_api.live import chain, claims
from serving_api.live.chain import UnifiedReads
from serving_api.live.clients import TDX, TENCENT
from serving_api.live.scan import SCANS
from serving_api.live.types import data_types
from tests.serving_api.live.admin_reads.conftest import CLOSED, TRADING, FetchContext
from tests.serving_api.live.conftest import TODAY, second_process

READS = {
    "sentiment": "/market/sentiment",
    "distribution": "/market/distribution",
    "fund_flow": "/market/fund-flow",
    "industry_rank": "/market/industry-rank",
    "hot_stocks": "/realtime/hot-stocks",
    "sector_treemap": "/realtime/sector-treemap",
}
TTL = {
    "sentiment": 10,
    "distribution": 10,
    "fund_flow": 15,
    "industry_rank": 30,
    "hot_stocks": 10,
    "sector_treemap": 15,
}


class Scans:
    """Counts the scans of each upstream, and holds or falsifies them."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(SCANS, 0)
        self.change: dict[str, Callable[[list[Any]], list[Any]]] = {}
        self.held: dict[str, threading.Event] = {}

    def of(self, upstream: str, scan: Callable[..., list[Any]], *args: Any) -> list[Any]:
        self.counts[upstream] += 1
        if upstream in self.held:
            assert self.held[upstream].wait(20)
        return self.change.get(upstream, list)(scan(*args))


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    counted = Scans()
    for upstream, scan in list(SCANS.items()):
        monkeypatch.setitem(SCANS, upstream, partial(counted.of, upstream, scan))  # type: ignore[arg-type]
    return counted


def read(bench: FetchContext, name: str) -> dict[str, Any]:
    answer = bench.api.get(READS[name])
    assert answer.status_code == 200, answer.text
    reported: dict[str, Any] = answer.json()
    return reported


def settle(bench: FetchContext) -> None:
    """Writes under way and sources that were left behind."""
    bench.api.call(bench.app.state.platform.part(UnifiedReads).settled)


def snapshots(bench: FetchContext) -> list[tuple[Any, ...]]:
    return bench.warehouse.query(
        "SELECT data_type, trade_date, source, is_final, captured_at FROM sys_market_snapshot "
        "WHERE payload_json IS NOT NULL ORDER BY data_type"
    )


def test_six_data_types_with_the_times_to_live_of_the_specification() -> None:
    assert {name: kind.ttl_s for name, kind in data_types().items()} == TTL


@pytest.mark.parametrize("name", sorted(READS))
def test_an_answer_is_kept_for_its_time_to_live(bench: FetchContext, scans: Scans, name: str) -> None:
    upstream = TENCENT if name == "fund_flow" else TDX
    read(bench, name)
    bench.ticks.advance(TTL[name] - 0.5)
    read(bench, name)
    assert scans.counts[upstream] == 1
    bench.clock.at = TRADING.replace(second=TTL[name] + 1)
    bench.ticks.advance(1.0)
    read(bench, name)
    assert scans.counts[upstream] == 2


def test_lunch_is_a_trading_hour_and_the_evening_is_not(bench: FetchContext, scans: Scans) -> None:
    bench.clock.at = TRADING.replace(hour=12, minute=10)
    read(bench, "distribution")
    bench.clock.at = TRADING.replace(hour=12, minute=11)
    bench.ticks.advance(11)
    read(bench, "distribution")
    assert scans.counts[TDX] == 2
    bench.clock.at = CLOSED
    bench.ticks.advance(11)
    assert read(bench, "distribution")["_source"] == "quote_site_a"
    bench.clock.at = CLOSED.replace(minute=59)
    bench.ticks.advance(29 * 60)
    read(bench, "distribution")
    assert (scans.counts[TDX], scans.counts[TENCENT]) == (2, 1)


def test_one_scan_serves_every_type_that_counts_it(bench: FetchContext, scans: Scans) -> None:
    for name in READS:
        read(bench, name)
    assert scans.counts == {TDX: 1, TENCENT: 1}  # fund flow is told by the quote site


def test_after_the_close_the_first_good_answer_is_the_days(bench: FetchContext, scans: Scans) -> None:
    bench.clock.at = CLOSED
    first = read(bench, "distribution")
    settle(bench)
    before = snapshots(bench)
    bench.clock.at = CLOSED.replace(hour=20)
    bench.ticks.advance(5 * 3600)
    again = read(bench, "distribution")
    settle(bench)

    assert scans.counts == {TDX: 0, TENCENT: 1}
    assert again == first
    assert again["timestamp"] == "2026-08-21T15:30:00+08:00"
    assert snapshots(bench) == before == [("distribution", TODAY, "quote_site_a", 1, "2026-08-21 15:30:00")]


def test_what_the_closing_minutes_say_is_not_yet_the_days(bench: FetchContext, scans: Scans) -> None:
    bench.clock.at = datetime(2026, 8, 21, 15, 0, 2)
    read(bench, "distribution")
    settle(bench)
    assert [row[3] for row in snapshots(bench)] == [0]
    bench.clock.at = datetime(2026, 8, 21, 15, 6)
    bench.ticks.advance(358)
    read(bench, "distribution")
    settle(bench)
    assert [row[3:] for row in snapshots(bench)] == [(1, "2026-08-21 15:06:00")]


@pytest.mark.parametrize("day", [datetime(2026, 8, 22, 11, 0), datetime(2026, 10, 1, 11, 0)])
def test_a_weekend_or_holiday_reads_the_stored_answer_without_requests(
    bench: FetchContext, scans: Scans, day: datetime
) -> None:
    calendar = shipped_calendar()
    session = calendar.on_or_before(day.date().isoformat())
    bench.clock.at = datetime.fromisoformat(f"{session}T15:30:00")
    first = read(bench, "sentiment")
    settle(bench)
    asked = dict(scans.counts)
    bench.clock.at = day
    bench.ticks.advance(20 * 3600)
    reported = read(bench, "sentiment")

    assert scans.counts == asked
    assert reported["_source"] == "db_history"
    assert reported["breadth"] == first["breadth"]


def test_the_next_morning_before_the_open_is_still_the_session_before(
    bench: FetchContext, scans: Scans
) -> None:
    bench.clock.at = CLOSED
    read(bench, "distribution")
    settle(bench)
    bench.clock.at = datetime(2026, 8, 24, 8, 0)
    bench.ticks.advance(60 * 3600)
    assert read(bench, "distribution")["_source"] == "db_history"
    assert scans.counts == {TDX: 0, TENCENT: 1}
    bench.clock.at = datetime(2026, 8, 24, 9, 20)  # the auction has traded nothing yet
    bench.ticks.advance(80 * 60)
    assert read(bench, "distribution")["trade_date"] == TODAY
    assert scans.counts[TDX] == 0
    bench.clock.at = datetime(2026, 8, 24, 9, 26)
    bench.ticks.advance(360)
    read(bench, "distribution")
    assert scans.counts[TDX] == 1


def test_an_unavailable_source_is_followed_by_the_next(bench: FetchContext) -> None:
    bench.silence("tdx")
    assert read(bench, "distribution")["_source"] == "quote_site_a"
    bench.silence("tdx", "tencent")
    bench.clock.at = TRADING.replace(second=12)
    bench.ticks.advance(12)
    assert read(bench, "industry_rank")["_source"] == "finance_portal_a"
    assert read(bench, "fund_flow")["_source"] == "finance_portal_a"


def test_without_any_source_the_structure_is_empty(bench: FetchContext) -> None:
    bench.silence("*")
    assert bench.api.get("/market/overview").json()["sectors"] == []
    for name in READS:
        reported = read(bench, name)
        assert reported["_source"] is None
        assert not any(reported.get(name) for name in ("items", "top", "total"))


@pytest.mark.parametrize("broken", ["yesterday", "cut"])
def test_quotes_of_yesterday_or_of_a_part_of_the_market_are_not_accepted(
    bench: FetchContext, scans: Scans, broken: str
) -> None:
    def of_yesterday(rows: list[Any]) -> list[Any]:
        return [replace(row, last_close=(row.last_close or 1.0) * 1.013) for row in rows]

    scans.change[TDX] = of_yesterday if broken == "yesterday" else lambda rows: rows[: len(rows) // 2]
    reported = read(bench, "distribution")
    assert reported["_source"] == "quote_site_a"
    assert reported["total"] == 59


@contextmanager
def held(scans: Scans, *upstreams: str) -> Iterator[None]:
    for upstream in upstreams:
        scans.held[upstream] = threading.Event()
    try:
        yield
    finally:
        for upstream in upstreams:
            scans.held.pop(upstream).set()


def test_a_slow_source_is_left_behind_and_still_fills_the_cache(
    bench: FetchContext, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PATIENCE_S", 0.05)
    with held(scans, TDX):
        assert read(bench, "distribution")["_source"] == "quote_site_a"
        bench.clock.at = TRADING.replace(second=20)
        bench.ticks.advance(11)
        # Still at it: it is not asked a second time.
        assert read(bench, "distribution")["_source"] == "quote_site_a"
        assert scans.counts[TDX] == 1
    settle(bench)


def test_an_estimate_says_so_and_is_never_stored(
    bench: FetchContext, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PATIENCE_S", 0.05)
    monkeypatch.setattr(chain, "LIVE_WAIT_S", 0.2)
    with held(scans, TDX, TENCENT):
        reported = read(bench, "sentiment")
        assert reported["sample_based"] is True
        assert 0 < reported["breadth"]["total"] <= 50
        assert snapshots(bench) == []
    settle(bench)
    # Those who came late tell of the whole market.
    late = read(bench, "sentiment")
    assert late["sample_based"] is False
    assert late["breadth"]["total"] == 59
    settle(bench)
    assert [row[0] for row in snapshots(bench)] == ["sentiment"]


def test_of_many_at_once_one_asks_and_the_others_get_the_stale_answer(
    bench: FetchContext, scans: Scans
) -> None:
    read(bench, "distribution")
    settle(bench)
    bench.clock.at = TRADING.replace(second=12)
    bench.ticks.advance(12)
    answers: list[Any] = []
    with held(scans, TDX):
        first = threading.Thread(target=lambda: answers.append(bench.api.get(READS["distribution"])))
        first.start()
        while scans.counts[TDX] < 2:
            time.sleep(0.005)
        others = [bench.api.get(READS["distribution"]) for _ in range(5)]
    first.join(10)
    assert scans.counts[TDX] == 2
    assert {other.headers["x-cache"] for other in others} == {"stale"}
    assert {other.json()["timestamp"] for other in others} == {"2026-08-21T10:30:00+08:00"}
    assert answers[0].json()["timestamp"] == "2026-08-21T10:30:12+08:00"


def test_two_processes_ask_once(bench: FetchContext, scans: Scans, tmp_path: Any) -> None:
    with second_process(bench, tmp_path) as other:
        mine = read(bench, "distribution")
        settle(bench)
        theirs = other.get(READS["distribution"]).json()
        assert theirs == mine
        assert scans.counts[TDX] == 1


def test_while_one_process_asks_the_other_waits_for_its_answer(
    bench: FetchContext, scans: Scans, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "LOOK_S", 0.02)
    answers: list[Any] = []
    with second_process(bench, tmp_path) as other:
        with held(scans, TDX):
            first = threading.Thread(target=lambda: answers.append(read(bench, "distribution")))
            first.start()
            while scans.counts[TDX] < 1:
                time.sleep(0.005)
            second = threading.Thread(target=lambda: answers.append(other.get(READS["distribution"]).json()))
            second.start()
            time.sleep(0.1)
            assert scans.counts[TDX] == 1
        first.join(10)
        second.join(10)
    assert answers[0] == answers[1]
    assert scans.counts == {TDX: 1, TENCENT: 0}


def test_a_request_costs_at_most_its_budget_of_calls(bench: FetchContext) -> None:
    """All sources answer nothing usable: the calls of one request stay within the budget."""
    bench.faults.replace(
        [{"upstream": "*", "call": "*", "kind": "status", "args": {"code": 503}, "count": 0}]
    )
    read(bench, "industry_rank")
    settle(bench)
    total = sum(sum(calls.values()) for calls in bench.market.calls().values())
    assert 0 < total <= 6
