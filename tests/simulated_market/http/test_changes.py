"""Intraday anomalies of the sample world, through the client: they follow from its own minutes."""

from datetime import datetime

import pytest

from core.clock import ManualClock
from resources.upstreams.eastmoney.quotes.changes import PAGE_ROWS
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.simulated_market.http.conftest import bench_of

TODAY = "2026-08-21"


@pytest.fixture
def bench():
    clock = ManualClock(datetime.fromisoformat(f"{TODAY}T15:45"))
    with SimulatedMarket(load_world("synthetic", "S"), clock, tcp_port=None) as market:
        made = bench_of(market)
        yield made
        made.transport.close()


def everything(bench):
    first = bench.eastmoney.stock_changes(0)
    rows = first.rows.to_dict("records")
    for page in range(1, -(-first.total // PAGE_ROWS)):
        rows += bench.eastmoney.stock_changes(page).rows.to_dict("records")
    assert len(rows) == first.total
    return rows


def test_seals_are_those_of_the_pools(bench):
    rows = everything(bench)
    seals = {(row["code"], row["time"]) for row in rows if row["type"] == "limit_up"}

    pool = bench.eastmoney.limit_pool("up", TODAY)
    assert len(pool)
    for row in pool.itertuples():
        if row.first_seal_time != "09:25:00":  # sealed by the auction: no minute begins it
            assert (row.code, row.first_seal_time) in seals
    assert {code for code, _ in seals} <= set(pool["code"]) | set(
        bench.eastmoney.limit_pool("broken", TODAY)["code"]
    )


def test_events_are_newest_first_and_grow_with_the_session(bench):
    late = everything(bench)
    assert [row["time"] for row in late] == sorted((row["time"] for row in late), reverse=True)
    assert {row["type"] for row in late} >= {"limit_up", "open_above_ma5"}
    priced = [row for row in late if row["price"] == row["price"]]
    assert priced
    assert all(row["price"] > 0 for row in priced)

    bench.market.clock.at = datetime.fromisoformat(f"{TODAY}T10:00")
    early = everything(bench)
    assert 0 < len(early) < len(late)
    assert max(row["time"] for row in early) <= "10:00:00"


@pytest.mark.parametrize("moment", [f"{TODAY}T09:10", "2026-08-22T11:00"])
def test_outside_a_session_nothing_happened(bench, moment):
    bench.market.clock.at = datetime.fromisoformat(moment)

    page = bench.eastmoney.stock_changes(0)

    assert (len(page.rows), page.total) == (0, 0)
