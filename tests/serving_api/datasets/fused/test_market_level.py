"""The stock connect and the exchanges' totals, read on both engines."""

from typing import Any

import pandas as pd
import pytest

from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import get, results

DAY, BEFORE = "2026-08-20", "2026-08-19"


@pytest.fixture(scope="module")
def bench(fused: Bench) -> Bench:
    def put(table: str, rows: list[dict[str, Any]]) -> None:
        warehouse = fused.extra["warehouse"]
        frame = pd.DataFrame(rows)
        batch = Batch(partition_key="test")
        warehouse.writer.write(warehouse.table(table), frame, where=Slice(), batch=batch)

    put(
        "raw_northbound",
        [
            {"trade_date": day, "channel": channel, "deal_amt": 100.0 + at, "trade_count": 7, "src": "hkex",
             "net_buy": 5.0 if channel == "ggt_sh" else None}
            for at, day in enumerate((BEFORE, DAY))
            for channel in ("hgt", "sgt", "north", "ggt_sh")
        ],
    )  # fmt: skip
    put(
        "exchange_overview",
        [
            {"trade_date": day, "exchange": exchange, "sec_class": name, "amount_yi": 9.0, "src": "sse"}
            for day in (BEFORE, DAY)
            for exchange, name in (("SSE", "股票"), ("SSE", "科创板"), ("SZSE", "股票"))
        ],
    )
    return fused


def call(bench: Bench, name: str, **params: Any) -> Any:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_the_newest_day_of_every_channel_with_a_note_for_what_is_hidden(bench: Bench) -> None:
    found = results(bench, "/datamgr/fusion/market/northbound")

    assert [row["channel"] for row in found] == ["hgt", "sgt", "north", "ggt_sh"]
    assert {row["date"] for row in found} == {DAY}
    hidden, south = found[2], found[3]
    assert (hidden["net_buy"], hidden["buy_amt"], hidden["deal_amt"]) == (None, None, 101.0)
    assert "2024-08-19" in hidden["note"]
    assert (south["net_buy"], "note" in south) == (5.0, False)


def test_only_an_administrator_reads_it(bench: Bench) -> None:
    assert bench.api.get("/datamgr/fusion/market/northbound").status_code == 401
    assert get(bench, "/datamgr/fusion/market/northbound").status_code == 200


def test_interfaces_of_the_market(bench: Bench) -> None:
    assert [row["trade_date"] for row in call(bench, "get_northbound_daily")] == [BEFORE, DAY]
    assert len(call(bench, "get_northbound_daily", channel="hgt", start_date=DAY)) == 1
    assert {row["channel"] for row in call(bench, "get_northbound_daily", channel="ggt_sh")} == {"ggt_sh"}
    assert len(call(bench, "get_exchange_overview")) == 3
    assert len(call(bench, "get_exchange_overview", trade_date=BEFORE, exchange="SZSE")) == 1
    days = [row["trade_date"] for row in call(bench, "get_exchange_overview_history", limit=3)]
    assert days == [BEFORE, DAY, DAY]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("get_northbound_daily", {"channel": "south"}),
        ("get_northbound_daily", {"start_date": "2026-12-01"}),
        ("get_exchange_overview", {"exchange": "NYSE"}),
        ("get_exchange_overview", {"trade_date": "2026-08-22"}),
    ],
)
def test_what_is_no_answer_names_the_parameter(bench: Bench, name: str, params: dict[str, Any]) -> None:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})

    assert answer.status_code == 422
    assert next(iter(params)) in answer.text
