"""What several API processes ask together: over all live reads no more than one process alone."""

import threading
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from serving_api.live import claims, shared_reads
from serving_api.live.chain import UnifiedReads
from serving_api.live.scan import packed, unpacked
from tests.serving_api.live.admin_reads.conftest import TRADING, FetchContext
from tests.serving_api.live.conftest import asked, second_process

SURFACE = (
    *("/market/sentiment", "/market/distribution", "/market/overview", "/market/indices"),
    *("/market/industry-rank", "/market/fund-flow", "/market/cross-market-risk", "/market/event-chain"),
    *("/market/share-brief", "/market/news-marquee", "/market/news-marquee?limit=20"),
    *("/realtime/hot-stocks", "/realtime/sector-treemap", "/realtime/abnormal-moves"),
    *("/realtime/stock-changes", "/realtime/money-flow/300114", "/realtime/trading-time"),
)
AUCTION = datetime(2026, 8, 21, 9, 26)


@pytest.fixture(autouse=True)
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is no reason to ask by oneself."""
    monkeypatch.setattr(claims, "LOOK_S", 0.02)
    monkeypatch.setattr(shared_reads, "WAIT_S", 60.0)


def read_all(api: Any) -> dict[str, Any]:
    reported = {}
    for path in SURFACE:
        answer = api.get(path)
        assert answer.status_code == 200, answer.text
        reported[path] = answer.json()
    return reported


def settle(bench: FetchContext) -> None:
    bench.api.call(bench.app.state.platform.part(UnifiedReads).settled)


def later(bench: FetchContext, seconds: float) -> None:
    bench.clock.at += timedelta(seconds=seconds)
    bench.ticks.advance(seconds)


def figures(reported: dict[str, Any]) -> dict[str, Any]:
    """Answers without the times at which they were made, and whether this process asked."""
    own = ("generated_at", "elapsed_s", "cached", "now")
    return {
        path: {name: value for name, value in body.items() if name not in own}
        for path, body in reported.items()
    }


@pytest.mark.parametrize("now", [TRADING, AUCTION])
def test_what_one_process_has_read_costs_another_no_call(
    bench: FetchContext, tmp_path: Path, now: datetime
) -> None:
    bench.clock.at = now
    with second_process(bench, tmp_path) as other:
        mine = read_all(bench.api)
        settle(bench)
        before = asked(bench)
        assert sum(before.values()) > 10
        theirs = read_all(other)
        assert asked(bench) - before == Counter()
        assert figures(theirs) == figures(mine)


def test_what_another_process_has_read_is_no_fresher_by_that(bench: FetchContext, tmp_path: Path) -> None:
    """The time to live counts from the call of the upstream, whoever made it."""
    with second_process(bench, tmp_path) as other:
        read_all(bench.api)
        settle(bench)
        later(bench, 9)
        read_all(other)
        before = asked(bench)
        later(bench, 2)
        reported = other.get("/market/distribution").json()
        assert reported["timestamp"] == "2026-08-21T10:30:11+08:00"
        assert asked(bench) - before


def test_processes_that_read_at_the_same_time_ask_as_much_as_one(bench: FetchContext, tmp_path: Path) -> None:
    before = asked(bench)
    read_all(bench.api)
    settle(bench)
    alone = asked(bench) - before
    with second_process(bench, tmp_path) as other:
        later(bench, 61)
        before = asked(bench)
        threads = [threading.Thread(target=read_all, args=(api,)) for api in (bench.api, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        # Anomalies may take one page more a minute later.
        together = asked(bench) - before
    assert sum(together.values()) <= sum(alone.values()) + 1, together - alone


def test_an_answer_of_another_day_is_not_taken(bench: FetchContext, tmp_path: Path) -> None:
    bench.clock.at = datetime(2026, 8, 20, 14, 59)
    read_all(bench.api)
    settle(bench)
    with second_process(bench, tmp_path) as other:
        bench.clock.at = TRADING  # the system clock stands still: only the day tells them apart
        before = asked(bench)
        read_all(other)
        assert asked(bench) - before


def test_all_readers_of_a_scan_get_the_same(bench: FetchContext) -> None:
    live = bench.app.state.platform.part(UnifiedReads)._live
    bench.api.get("/market/distribution")
    _, rows, _ = live.scans._cache.kept("tdx").value
    facts = bench.api.call(live.facts.of, "2026-08-21")
    assert len(rows) > 50
    assert unpacked(packed(rows, None), facts) == (rows, None)
    assert unpacked(packed([], "of yesterday"), facts) == ([], "of yesterday")


def test_a_process_that_died_while_asking_does_not_block_for_long(
    bench: FetchContext, tmp_path: Path
) -> None:
    with second_process(bench, tmp_path) as other:
        live = bench.app.state.platform.part(shared_reads.SharedReads)
        assert bench.api.call(live.find_or_claim, "flashes 50", "2026-08-21") is None  # and never tells
        bench.ticks.advance(shared_reads.CLAIM_S + 0.1)
        assert other.get("/market/news-marquee").json()["total"] > 0
