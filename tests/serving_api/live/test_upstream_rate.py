"""How often upstreams are asked in a minute: arithmetic from the times to live, whatever the load and however
many processes there are."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from serving_api.live.chain import UnifiedReads
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.conftest import asked, second_process
from tests.serving_api.live.test_shared import SURFACE, later, waiting

__all__ = ["waiting"]

# Written by hand. Call -> (calls of one refresh, seconds until the next one) of every read that makes it.
CALLS: dict[str, tuple[tuple[int, float], ...]] = {
    "terminal quotes": ((1, 10), (1, 10)),  # 60 stocks, 80 a call; main indices
    "tencent rank": ((1, 15),),  # money flow of the market, 200 a call
    "eastmoney limit_pool": ((2, 15),),  # both sides of the limit
    "eastmoney stock_changes": ((1, 20), (1, 20)),  # anomalies; the kind `intraday`
    "eastmoney flash": ((5, 60), (1, 30)),  # event chain; marquee
    "eastmoney fflow_day": ((1, 30),),
    "eastmoney ulist": ((1, 60),),  # series of the risk rules
}
ONCE = Counter(
    {
        "terminal quotes": 1, "terminal auction": 3,
        "eastmoney limit_pool": 1, "eastmoney report": 1,
    }
)  # fmt: skip
"""Calls of reads that are kept for half an hour or the day: the first minute alone has them."""
MINUTE, SECONDS, STEP = 60, 125, 5


def usual(reads: Iterable[tuple[int, float]]) -> float:
    """Calls of a minute on average."""
    return sum(calls * MINUTE / seconds for calls, seconds in reads)


def most(reads: Iterable[tuple[int, float]]) -> int:
    """Calls of any minute: one that begins right before a refresh has one more of each read."""
    return sum(calls * int(MINUTE // seconds + 1) for calls, seconds in reads)


def test_calls_of_a_minute_are_a_constant_of_the_times_to_live(bench: FetchContext, tmp_path: Path) -> None:
    """Two processes read everything every five seconds, of which all times to live are multiples."""
    reported: list[Counter[str]] = []
    with second_process(bench, tmp_path) as other:
        for _ in range(SECONDS // STEP):
            before = asked(bench)
            for api in (bench.api, other):
                for path in SURFACE:
                    assert api.get(path).status_code == 200
                api.call(api.app.state.platform.part(UnifiedReads).settled)
            calls = asked(bench) - before
            del calls["terminal hello"]  # a connection, no read
            reported.append(calls)
            later(bench, STEP)
    wide = MINUTE // STEP
    minutes = [sum(reported[at : at + wide], Counter[str]()) for at in range(len(reported) - wide + 1)]

    assert {name for one in reported for name in one} == CALLS.keys() | ONCE.keys()
    assert minutes[0] == Counter({name: round(usual(reads)) for name, reads in CALLS.items()}) + ONCE
    for minute in minutes[1:]:
        assert all(minute[name] <= most(CALLS[name]) for name in minute), minute
        assert sum(minute.values()) == pytest.approx(sum(map(usual, CALLS.values())))


def test_the_bound_of_the_bench_is_the_same_arithmetic() -> None:
    """Of 600 stocks a scan is 8 calls and a ranking 3, anomalies have a page more, and the kind `auction` is
    empty, for which it asks for the pool of the date before every 20 s."""
    larger = CALLS | {
        "terminal quotes": ((8, 10), (1, 10)),
        "tencent rank": ((3, 15),),
        "eastmoney stock_changes": ((2, 20), (1, 20)),
        "eastmoney limit_pool": ((2, 15), (1, 20)),
        "eastmoney fflow_day": (),  # not in its mix
    }
    assert sum(map(usual, larger.values())) == pytest.approx(94)
    assert sum(map(most, larger.values())) == 119
