"""After an outage: nobody is asked while a breaker is open, and the live source is back after its pause."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from resources.settings import Settings
from resources.transport.gates import SqliteGate
from resources.transport.settings import transport_settings
from resources.upstreams.eastmoney.quotes.changes import ChangesPage
from resources.upstreams.factory import make_clients
from serving_api.live.admin_reads.changes import newest_pages
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.chain import UnifiedReads
from serving_api.live.clients import LiveClients
from tests.serving_api.live.admin_reads.conftest import FetchContext

COUNTED = ("market/sentiment", "market/distribution", "market/fund-flow", "market/industry-rank")
PUSH2EX_S, PORTAL_S = 30.0, 120.0


@pytest.fixture
def timed(bench: FetchContext) -> Iterator[FetchContext]:
    """Breakers and cooldowns by the test's own clock."""
    state = bench.app.state.platform
    settings: Settings = state.settings
    gate = SqliteGate(
        settings.data_path / "transport.sqlite3", transport_settings(settings), now=bench.ticks.wall
    )
    opener: Any = partial(make_clients, gate=gate, sleeper=lambda _seconds: None)
    state.parts[live_of] = Live(state, LiveClients(settings, bench.clock, state.calendar, opener))
    yield bench
    gate.close()


def later(bench: FetchContext, seconds: float) -> None:
    bench.clock.at += timedelta(seconds=seconds)
    bench.ticks.advance(seconds)


def read(bench: FetchContext, path: str) -> dict[str, Any]:
    answer = bench.api.get(f"/{path}")
    assert answer.status_code == 200, answer.text
    reported: dict[str, Any] = answer.json()
    return reported


def sources(bench: FetchContext) -> list[Any]:
    found = [read(bench, path)["_source"] for path in COUNTED[:3]]
    bench.api.call(bench.app.state.platform.part(UnifiedReads).settled)
    return found


def test_the_sources_of_the_market_are_back_after_the_outage(timed: FetchContext) -> None:
    usual = sources(timed)
    assert usual == ["tcp_terminal", "tcp_terminal", "quote_site_a"]
    timed.silence("*")
    for _ in range(6):
        later(timed, 31)
        assert sources(timed) == ["db_history"] * 3
    timed.faults.replace([])
    later(timed, PORTAL_S + 1)
    assert sources(timed) == usual


def test_an_open_breaker_sends_nothing_and_closes_after_its_pause(timed: FetchContext) -> None:
    """Anomalies: two failures open it for 30 seconds."""

    def changes() -> dict[str, Any]:
        return read(timed, "realtime/stock-changes")

    def asked() -> int:
        return timed.market.calls().get("eastmoney", {}).get("stock_changes", 0)

    good = changes()
    timed.faults.replace([{"upstream": "eastmoney", "call": "stock_changes", "kind": "html"}])
    later(timed, 21)
    failed = [changes() for _ in range(2)]
    assert [reported["stale"] for reported in failed] == [True, True]
    assert failed[-1]["items"] == good["items"]
    timed.ticks.advance(1)  # the state of the breakers is kept for a second
    before = asked()
    open_ = changes()
    assert (open_["breaker"]["state"], open_["stale"], asked()) == ("OPEN", True, before)

    timed.faults.replace([])
    later(timed, PUSH2EX_S - 5)
    assert (changes()["stale"], asked()) == (True, before)
    later(timed, 6)
    back = changes()
    assert (back["stale"], asked() > before) == (False, True)
    timed.ticks.advance(1)
    assert changes()["breaker"]["state"] == "CLOSED"


def test_pages_of_anomalies_are_asked_three_at_a_time(bench: FetchContext) -> None:
    together = bench.app.state.platform.settings.stock_changes_concurrency
    assert together == 3
    live = bench.app.state.platform.part(live_of)
    first: ChangesPage = live.clients.client("eastmoney").stock_changes(0)
    whole = replace(first, total=10_000)
    lock, gate = threading.Lock(), threading.Barrier(together, timeout=20)
    running, most = 0, 0

    class Client:
        @staticmethod
        def stock_changes(page: int) -> ChangesPage:
            nonlocal running, most
            if page == 0:
                return whole
            with lock:
                running += 1
                most = max(most, running)
            gate.wait()  # until three are there: a fourth would be counted
            with lock:
                running -= 1
            return whole

    assert len(newest_pages(Client(), 7, together)) == 7
    assert most == 3
