"""A trading day, a weekend and a holiday past the six unified reads of the market: what an answer says of its
source stands in one table written by hand from the specification's fallback rules."""

from datetime import datetime

import pytest

from serving_api.live.chain import unified_of
from tests.serving_api.datamgr_live.conftest import Desk

READS = {
    "distribution": "/market/distribution",
    "sentiment": "/market/sentiment",
    "industry-rank": "/market/industry-rank",
    "treemap": "/realtime/sector-treemap",
    "hot-stocks": "/realtime/hot-stocks",
    "fund-flow": "/market/fund-flow",
}
TERMINAL, QUOTES, STORED = "tcp_terminal", "quote_site_a", "db_history"
# Moment: source in the order of READS (the terminal tells no fund flow), whether the terminal is asked, and
# whether any upstream is.
TABLE = {
    "2026-08-21T08:30:00": ([QUOTES] * 6, False, True),
    "2026-08-21T09:35:00": ([TERMINAL] * 5 + [QUOTES], True, True),
    "2026-08-21T11:00:00": ([TERMINAL] * 5 + [QUOTES], True, True),
    "2026-08-21T12:00:00": ([TERMINAL] * 5 + [QUOTES], True, True),
    "2026-08-21T13:30:00": ([TERMINAL] * 5 + [QUOTES], True, True),
    "2026-08-21T14:58:00": ([TERMINAL] * 5 + [QUOTES], True, True),
    "2026-08-21T15:05:00": ([QUOTES] * 6, False, True),
    "2026-08-21T16:30:00": ([QUOTES] * 6, False, False),  # the day's final answers are stored
    "2026-08-22T11:00:00": ([STORED] * 6, False, False),
    "2026-10-01T11:00:00": ([QUOTES] * 6, False, True),  # nothing is stored of the session before
}


def asked(bench: Desk) -> tuple[int, int]:
    terminal = sum(bench.market.terminal_calls().values())
    return terminal, terminal + bench.calls("tencent") + bench.calls("eastmoney")


@pytest.mark.usefixtures("patient")
def test_who_answers_in_every_phase_of_a_day(bench: Desk) -> None:
    seen = {}
    for moment in TABLE:
        at = datetime.fromisoformat(moment)
        bench.ticks.advance(max(0.0, (at - bench.clock.at).total_seconds()) + 3_700)
        bench.clock.at = at
        before = asked(bench)
        sources = []
        for path in READS.values():
            answer = bench.api.get(path)
            assert answer.status_code == 200, (moment, path, answer.text)
            bench.api.call(bench.app.state.platform.part(unified_of).settled)
            sources.append(answer.json()["_source"])
        now = asked(bench)
        seen[moment] = (sources, now[0] > before[0], now[1] > before[1])
    assert seen == TABLE
