"""The market with an upstream away, slow, lying or cut short: who answers instead, and what is marked."""

from datetime import timedelta
from typing import Any

import pytest

from serving_api.live import chain
from serving_api.live.chain import UnifiedReads
from tests.serving_api.live.admin_reads.conftest import TRADING, FetchContext
from tests.serving_api.live.test_day import PATHS, calls, says

TERMINAL, QUOTES, PORTAL, HISTORY, NOBODY = (
    *("tcp_terminal", "quote_site_a", "finance_portal_a", "db_history"),
    "-",
)
COUNTED = ("distribution", "sentiment", "industry-rank", "sector-treemap", "hot-stocks")
"""Counted from a scan of all shares."""
BY_BOARDS = ("industry-rank", "sector-treemap", "hot-stocks")
"""Those that the portal tells as well."""
PORTAL_ONLY = ("stock-changes", "money-flow", "news-marquee")
USUAL = dict.fromkeys(COUNTED, TERMINAL) | {"fund-flow": QUOTES} | dict.fromkeys(PORTAL_ONLY, PORTAL)
"""What a session's reads say while everybody answers."""


def rule(upstream: str, kind: str, **args: Any) -> dict[str, Any]:
    return {"upstream": upstream, "call": "*", "kind": kind, "args": args, "count": 0}


def by(source: str, *reads: str) -> dict[str, str]:
    return dict.fromkeys(reads, source)


SILENT = [rule("tdx", "reset"), rule("tencent", "reset")]
BAD = {
    "terminal away": ([rule("tdx", "reset")], by(QUOTES, *COUNTED)),
    "quote site away": ([rule("tencent", "reset")], by(PORTAL, "fund-flow")),
    "portal away": ([rule("eastmoney", "reset")], by(NOBODY, *PORTAL_ONLY)),
    "both quotes away": (
        SILENT,
        by(PORTAL, *BY_BOARDS, "fund-flow") | by(NOBODY, "distribution", "sentiment"),
    ),
    "terminal cut in the middle of an answer": ([rule("tdx", "truncate", keep=0.5)], by(QUOTES, *COUNTED)),
    "quote site cut in the middle of an answer": (
        [rule("tencent", "truncate", keep=0.5)],
        by(PORTAL, "fund-flow"),
    ),
    "portal cut in the middle of an answer": (
        [rule("eastmoney", "truncate", keep=0.5)],
        by(NOBODY, *PORTAL_ONLY),
    ),
    "a list of the quote site that ends early": (
        [rule("tencent", "cut_list", rows=20)],
        by(PORTAL, "fund-flow"),
    ),
    "terminal of yesterday": ([rule("tdx", "stale_day")], by(QUOTES, *COUNTED)),
    "quote site of yesterday": ([rule("tencent", "stale_day")], by(PORTAL, "fund-flow")),
    # Its flows by date and its news carry their dates; anomalies of this afternoon are those of yesterday.
    "portal of yesterday": (
        [rule("eastmoney", "stale_day"), *SILENT],
        by(NOBODY, *COUNTED, "fund-flow", "stock-changes"),
    ),
    "everybody of yesterday": (
        [rule("*", "stale_day")],
        by(NOBODY, *COUNTED, "fund-flow", "stock-changes"),
    ),
}


def reported(bench: FetchContext) -> dict[str, str]:
    found = {}
    for read in USUAL:
        answer = bench.api.get(PATHS[read])
        assert answer.status_code == 200, (read, answer.text)
        bench.api.call(bench.app.state.platform.part(UnifiedReads).settled)
        found[read] = says(read, answer.json(), answer.headers.get("x-data-source"))
    return found


@pytest.mark.parametrize("case", BAD)
def test_the_fallback_source(bench: FetchContext, case: str) -> None:
    rules, changed = BAD[case]
    bench.faults.replace(rules)
    assert reported(bench) == USUAL | changed


def test_all_sources_fail_in_the_middle_of_the_day(bench: FetchContext) -> None:
    """What was stored this morning stands, told as history and with its own time; anomalies say `stale`."""
    assert reported(bench) == USUAL
    bench.silence("*")
    bench.clock.at = TRADING + timedelta(minutes=2)
    bench.ticks.advance(120)

    assert reported(bench) == USUAL | by(HISTORY, *COUNTED, "fund-flow") | by(
        NOBODY, "money-flow", "news-marquee"
    )
    distribution = bench.api.get(PATHS["distribution"])
    assert distribution.json()["timestamp"] == "2026-08-21T10:30:00+08:00"
    changes = bench.api.get(PATHS["stock-changes"]).json()
    assert (changes["stale"], changes["timestamp"]) == (True, "2026-08-21T10:30:00+08:00")
    assert changes["breaker"]["state"] == "OPEN"
    moves = bench.api.get(PATHS["abnormal-moves"]).json()
    assert (moves["auction"], moves["intraday"] != []) == ([], True)


def test_a_slow_terminal_is_asked_once_and_not_waited_for(
    bench: FetchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PATIENCE_S", 0.1)
    bench.faults.replace([rule("tdx", "slow", bytes_per_second=2_000)])
    sources = {read: bench.api.get(PATHS[read]).json()["_source"] for read in COUNTED}
    assert sources == by(QUOTES, *COUNTED)
    assert calls(bench)["tdx"] <= 1
    bench.api.call(bench.app.state.platform.part(UnifiedReads).settled)


def test_a_source_with_corrupted_responses_is_asked_once_for_all_reads(bench: FetchContext) -> None:
    """Its scan is refused for as long as a good one would have been kept."""
    bench.faults.replace([rule("tdx", "stale_day")])
    for read in COUNTED:
        bench.api.get(PATHS[read])
    assert calls(bench)["tdx"] == 1
    bench.clock.at = TRADING + timedelta(seconds=31)
    bench.ticks.advance(31)
    bench.api.get(PATHS["distribution"])
    assert calls(bench)["tdx"] == 2
