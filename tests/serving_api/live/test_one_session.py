"""Which session a live answer is of: it says so, two sessions never stand beside each other, and no clock
brings figures of one under the date of another."""

from datetime import datetime
from typing import Any

import pytest

from serving_api.live.chain import of_one_session
from serving_api.live.data_types import Found
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.conftest import BEFORE, TODAY

READS = (
    "/market/sentiment", "/market/indices", "/market/distribution", "/market/industry-rank",
    "/market/fund-flow", "/realtime/hot-stocks", "/realtime/sector-treemap",
)  # fmt: skip
RANKING, ENDS = "/datamgr/market/industry-ranking", "/datamgr/fusion/market/industry-ranking"


def at(bench: FetchContext, time: str) -> None:
    bench.clock.at = datetime.fromisoformat(time)
    bench.ticks.advance(7200)


def dates(bench: FetchContext) -> dict[str, Any]:
    """Read -> the trade date that its body and its header name."""
    found = {}
    for path in (*READS, "/market/overview"):
        answer = bench.api.get(path)
        header = answer.headers.get("X-Trade-Date")
        if path != "/market/overview":
            assert answer.json()["trade_date"] == header, path
            assert "_source" in answer.json(), path
        found[path] = header
    return found


@pytest.mark.parametrize(
    ("time", "day"), [("08:30", BEFORE), ("09:16", BEFORE), ("09:24:59", BEFORE), ("09:26", TODAY)]
)
def test_every_read_of_a_moment_is_of_one_session(bench: FetchContext, time: str, day: str) -> None:
    at(bench, f"{BEFORE}T15:30")
    dates(bench)
    at(bench, f"{TODAY}T{time}")

    assert set(dates(bench).values()) == {day}
    brief = bench.api.get("/market/share-brief").json()["brief"]
    assert brief["trade_date"] == day
    counted = bench.api.get("/market/distribution").json()
    assert counted["up"] + counted["down"] > 0


def test_a_machine_that_slept_shows_no_figures_of_thursday_on_monday(bench: FetchContext) -> None:
    at(bench, f"{BEFORE}T10:30")
    paths = (RANKING, "/datamgr/market/stat", "/datamgr/market/hot-stocks")
    thursday = {path: bench.get(path) for path in paths}
    assert {answer.json()["trade_date"] for answer in thursday.values()} == {BEFORE}

    bench.clock.at = datetime(2026, 8, 24, 10, 30)  # and no second has passed for the machine
    monday = {path: bench.get(path) for path in paths}

    for path in paths:
        assert monday[path].json()["trade_date"] == "2026-08-24", path
        assert monday[path].json()["results"] != thursday[path].json()["results"], path


def test_a_ranking_of_older_sessions_is_no_answer(bench: FetchContext) -> None:
    def sectors(day: str) -> None:
        with bench.warehouse.engine.begin() as connection:
            connection.exec_driver_sql(
                "INSERT INTO fusion_market_cloud_map (trade_date, node_code, parent_code, level, name, "
                "change_pct, src, quality, batch_id, valid_from) VALUES "
                f"('{day}', 'BK1', 'ROOT', 'sector', 'x', 1, 'eastmoney', 'ok', 'b', '{day} 15:00:00')"
            )

    at(bench, f"{TODAY}T10:30")
    bench.silence("eastmoney")
    sectors("2026-08-18")
    assert bench.results(ENDS)["total"] == 0

    bench.ticks.advance(60)
    sectors(BEFORE)
    answer = bench.get(ENDS).json()
    assert (answer["trade_date"], answer["_source"], answer["results"]["total"]) == (BEFORE, "db_history", 1)


def test_figures_of_an_earlier_session_are_left_out_beside_newer_ones() -> None:
    now, old = {"up": 1, "limit_up": 1}, {"industries": [{"name": "x"}]}
    reads = of_one_session(
        {
            "distribution": Found(now, TODAY, origin="tcp_terminal"),
            "industry_rank": Found(old, TODAY, origin="db_history", stored_of=BEFORE),
        }
    )

    assert reads["distribution"].body == now
    assert reads["industry_rank"].body["industries"] == []
    assert reads["industry_rank"].trade_date is None


def test_a_request_for_fresh_answers_says_that_no_source_is_there(bench: FetchContext) -> None:
    at(bench, f"{TODAY}T10:30")
    bench.silence("eastmoney", "tencent", "tdx")

    moves = bench.api.get("/realtime/abnormal-moves", params={"use_cache": False}).json()
    bars = bench.api.get("/stocks/600040/intraday", params={"use_cache": False}).json()

    assert "intraday" in moves["failed"]
    assert (moves["intraday"], moves["trade_date"]) == ([], TODAY)
    assert (bars["failed"], bars["results"]["bars"]) == (True, [])
