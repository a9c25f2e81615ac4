"""A trading day, a weekend and a holiday past every live read of the market.

What an answer says of its source or state, when it was captured and what it cost stand in tables written by
hand from the specification's fallback rules and times to live. The reads of a moment are asked in the order
of the table, one after the other at the same time of the market clock: what the first one asked for, the next
ones share.
"""

from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from serving_api.live.chain import UnifiedReads
from tests.serving_api.live.admin_reads.conftest import FetchContext

PATHS = {
    "distribution": "/market/distribution",
    "sentiment": "/market/sentiment",
    "indices": "/market/indices",
    "industry-rank": "/market/industry-rank",
    "overview": "/market/overview",
    "sector-treemap": "/realtime/sector-treemap",
    "hot-stocks": "/realtime/hot-stocks",
    "fund-flow": "/market/fund-flow",
    "share-brief": "/market/share-brief",
    "cross-market-risk": "/market/cross-market-risk",
    "event-chain": "/market/event-chain",
    "news-marquee": "/market/news-marquee",
    "stock-changes": "/realtime/stock-changes",
    "abnormal-moves": "/realtime/abnormal-moves",
    "money-flow": "/realtime/money-flow/600040",
    "calendar": "/market/calendar",
    "trading-time": "/realtime/trading-time",
}
STORED = (
    *("breadth-intraday", "limit-count-history", "emotion-cycle", "index-calendar", "regime"),
    "phase-history",
)
"""Reads of what is stored, under /market: they ask nobody in any phase."""
CONNECTING = frozenset({"hello", "index_bars_day"})
"""Calls of the terminal's protocol that a connection begins with."""

# Columns: read, what the answer says of its source or state, when it was captured, calls of the upstreams.
PRE_OPEN = """
distribution       quote_site_a      now  tencent:1
sentiment          quote_site_a      now  tencent:1
indices            quote_site_a      now  -
industry-rank      quote_site_a      now  -
overview           quote_site_a      now  -
sector-treemap     quote_site_a      now  -
hot-stocks         quote_site_a      now  -
fund-flow          quote_site_a      now  eastmoney:2
share-brief        drawn             now  -
cross-market-risk  7of9              now  eastmoney:5
event-chain        -                 now  -
news-marquee       finance_portal_a  now  eastmoney:1
stock-changes      -                 now  -
abnormal-moves     pre_auction       now  eastmoney:1
money-flow         finance_portal_a  now  eastmoney:1
calendar           pre_open          -    -
trading-time       pre_open          now  -
"""
# Nobody has traded before 09:25: figures of the market stay those of the session before, all of them.
BIDDING = """
distribution       db_history        08-21T08:30  -
sentiment          db_history        08-21T08:30  -
indices            db_history        08-21T08:30  -
industry-rank      db_history        08-21T08:30  -
overview           db_history        08-21T08:30  -
sector-treemap     db_history        08-21T08:30  -
hot-stocks         db_history        08-21T08:30  -
fund-flow          db_history        08-21T08:30  -
share-brief        drawn             08-21T08:30  -
cross-market-risk  7of9              now          eastmoney:6
event-chain        -                 now          -
news-marquee       finance_portal_a  now          eastmoney:1
stock-changes      finance_portal_a  now          eastmoney:1
abnormal-moves     ready             now          eastmoney:3,tdx:4
money-flow         finance_portal_a  now          eastmoney:1
calendar           auction           -            -
trading-time       auction           now          -
"""
# From 09:25 on the price of the auction is the one that was traded at. Lunch is a trading hour.
TRADING = """
distribution       tcp_terminal      now  tdx:1
sentiment          tcp_terminal      now  tdx:1
indices            tcp_terminal      now  -
industry-rank      tcp_terminal      now  -
overview           tcp_terminal      now  -
sector-treemap     tcp_terminal      now  -
hot-stocks         tcp_terminal      now  -
fund-flow          quote_site_a      now  eastmoney:2,tencent:1
share-brief        drawn             now  -
cross-market-risk  7of9              now  eastmoney:6
event-chain        -                 now  -
news-marquee       finance_portal_a  now  eastmoney:1
stock-changes      finance_portal_a  now  eastmoney:1
abnormal-moves     ready             now  eastmoney:3,tdx:4
money-flow         finance_portal_a  now  eastmoney:1
calendar           STATE             -    -
trading-time       STATE             now  -
"""
CLOSING = """
distribution       quote_site_a      now  tencent:1
sentiment          quote_site_a      now  tencent:1
indices            quote_site_a      now  -
industry-rank      quote_site_a      now  -
overview           quote_site_a      now  -
sector-treemap     quote_site_a      now  -
hot-stocks         quote_site_a      now  -
fund-flow          quote_site_a      now  eastmoney:2
share-brief        drawn             now  -
cross-market-risk  7of9              now  eastmoney:6
event-chain        -                 now  -
news-marquee       finance_portal_a  now  eastmoney:1
stock-changes      finance_portal_a  now  eastmoney:1
abnormal-moves     ready             now  eastmoney:3,tdx:4
money-flow         finance_portal_a  now  eastmoney:1
calendar           closed            -    -
trading-time       closed            now  -
"""
# The first good answer from 15:05 on is the day's.
EVENING = """
distribution       quote_site_a      08-21T15:05  -
sentiment          quote_site_a      08-21T15:05  -
indices            quote_site_a      08-21T15:05  -
industry-rank      quote_site_a      08-21T15:05  -
overview           quote_site_a      08-21T15:05  -
sector-treemap     quote_site_a      08-21T15:05  -
hot-stocks         quote_site_a      08-21T15:05  -
fund-flow          quote_site_a      08-21T15:05  -
share-brief        drawn             08-21T15:05  -
cross-market-risk  7of9              now          eastmoney:6
event-chain        -                 now          -
news-marquee       finance_portal_a  now          eastmoney:1
stock-changes      finance_portal_a  now          eastmoney:1
abnormal-moves     ready             now          eastmoney:3,tdx:4
money-flow         finance_portal_a  now          eastmoney:1
calendar           closed            -            -
trading-time       closed            now          -
"""
# The stored answer of the session before; there is no auction, and the billboard is that of its evening.
NO_SESSION = """
distribution       db_history        STORED  -
sentiment          db_history        STORED  -
indices            db_history        STORED  -
industry-rank      db_history        STORED  -
overview           db_history        STORED  -
sector-treemap     db_history        STORED  -
hot-stocks         db_history        STORED  -
fund-flow          db_history        STORED  -
share-brief        drawn             STORED  -
cross-market-risk  7of9              now     eastmoney:6
event-chain        -                 now     -
news-marquee       finance_portal_a  now     eastmoney:1
stock-changes      finance_portal_a  now     eastmoney:1
abnormal-moves     non_trading_day   now     eastmoney:2
money-flow         finance_portal_a  now     eastmoney:1
calendar           STATE             -       -
trading-time       STATE             now     -
"""
DAY = {
    "2026-08-21T08:30": PRE_OPEN,
    "2026-08-21T09:20": BIDDING,
    "2026-08-21T09:26": TRADING.replace("STATE", "auction"),
    "2026-08-21T09:35": TRADING.replace("STATE", "trading"),
    "2026-08-21T12:00": TRADING.replace("STATE", "noon_break"),
    "2026-08-21T14:58": TRADING.replace("STATE", "trading"),
    "2026-08-21T15:02": CLOSING,
    "2026-08-21T15:05": CLOSING,
    "2026-08-21T16:30": EVENING,
    "2026-08-22T11:00": NO_SESSION.replace("STORED", "08-21T15:05").replace("STATE", "closed"),
    # More anomalies than a page holds, and one limit-up on the date before.
    "2026-09-30T15:30": CLOSING.replace(
        "stock-changes      finance_portal_a  now  eastmoney:1",
        "stock-changes      finance_portal_a  now  eastmoney:2",
    ).replace("eastmoney:3,tdx:4", "eastmoney:3,tdx:2"),
    "2026-10-01T11:00": NO_SESSION.replace("STORED", "09-30T15:30").replace("STATE", "holiday"),
}


def calls(bench: FetchContext) -> Counter[str]:
    """Data calls so far, by upstream."""
    counted = Counter({name: sum(of.values()) for name, of in bench.market.calls().items()})
    counted["tdx"] = sum(
        number for name, number in bench.market.terminal_calls().items() if name not in CONNECTING
    )
    return counted


def says(read: str, body: dict[str, Any], source: str | None) -> str:
    """What an answer says of its source or state, in one word."""
    if read == "share-brief":
        return "drawn" if body["svg"] else body["brief"]["note"]
    if read == "cross-market-risk":
        return f"{body['coverage']['used']}of{body['coverage']['total']}"
    reported = body.get("_source", source) or body.get("auction_status") or body.get("state")
    return reported or "-"


def captured(body: dict[str, Any], as_of: str | None, now: datetime) -> str:
    at = body.get("timestamp") or body.get("generated_at") or body.get("now") or as_of
    at = at or str(body.get("brief", {}).get("date", "")).replace(" ", "T")
    minute = at[:16]
    return {"": "-", f"{now:%Y-%m-%dT%H:%M}": "now"}.get(minute, minute[5:])


def line(bench: FetchContext, read: str) -> tuple[str, ...]:
    """A row of the tables, as it really is."""
    before = calls(bench)
    answer = bench.api.get(PATHS[read])
    assert answer.status_code == 200, (read, answer.text)
    bench.api.call(bench.app.state.platform.part(UnifiedReads).settled)
    made = calls(bench) - before
    headers, body = answer.headers, answer.json()
    return (
        read,
        says(read, body, headers.get("x-data-source")),
        captured(body, headers.get("x-data-as-of"), bench.clock.now()),
        ",".join(f"{name}:{number}" for name, number in sorted(made.items())) or "-",
    )


def move_to(bench: FetchContext, moment: str) -> None:
    """The clocks of the market and of the process; whatever was kept is over after an hour."""
    at = datetime.fromisoformat(moment)
    bench.ticks.advance(max(0.0, (at - bench.clock.at).total_seconds()) + 3_700)
    bench.clock.at = at


@pytest.mark.usefixtures("patient")
def test_the_source_and_the_calls_in_every_phase_of_a_day(bench: FetchContext) -> None:
    wrong = []
    for moment, table in DAY.items():
        move_to(bench, moment)
        expected = [tuple(row.split()) for row in table.strip().splitlines()]
        assert [row[0] for row in expected] == list(PATHS)
        wrong += [(moment, seen, row) for row in expected if (seen := line(bench, row[0])) != row]
        before = calls(bench)
        for name in STORED:
            assert bench.api.get(f"/market/{name}").status_code == 200, (moment, name)
        assert calls(bench) == before, moment
    assert not wrong, "\n".join(map(str, wrong))
