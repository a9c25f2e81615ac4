"""Which tools ask an upstream, by the counter of the simulated market; texts from outside stay data."""

import json
from typing import Any

import pandas as pd

from platform_assets.compute.macro_reading import needed_series
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.framework.permissions import Subject
from serving_api.tools.answers import text_of
from serving_api.tools.registry import tool_named, tools
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.conftest import asked

MONTHS = [f"2026-{month:02d}-01" for month in range(1, 8)]


def ask(bench: FetchContext, name: str, **arguments: Any) -> dict[str, Any]:
    async def run() -> str:
        state = bench.app.state.platform
        return text_of(await tool_named(name).run(state, Subject(), arguments))

    reported: dict[str, Any] = json.loads(bench.api.call(run))
    return reported


def put(bench: FetchContext, table: str, rows: list[dict[str, Any]], known: list[str]) -> None:
    frame = pd.DataFrame([{"src": "eastmoney", **row} for row in rows])
    bench.warehouse.writer.write(
        bench.warehouse.table(table), frame, where=Slice(), batch=Batch(partition_key="test"), public_at=known
    )


def test_the_economy_is_read_from_stored_rows_only(bench: FetchContext) -> None:
    before = asked(bench)
    empty = ask(bench, "app_macro")

    assert not empty["available"]
    assert "无法判断" in empty["reason"]

    rows = [
        {"indicator": name, "period_date": day, "region": "cn", "freq": "m", "name": name,
         "value": 51.0 + at, "publish_date": day}
        for name in needed_series() for at, day in enumerate(MONTHS)
    ]  # fmt: skip
    put(bench, "fusion_macro_indicator", rows, [f"{row['period_date']} 18:00:00.000000" for row in rows])
    reported = ask(bench, "app_macro")
    then = ask(bench, "app_macro", as_of="2026-03-15")

    assert reported["available"]
    assert reported["phase"] == "过热"
    assert len(reported["receipts"]["batch_ids"]) == 1
    assert {one["period"] for one in reported["items"]} == {"2026-07-01"}
    # As known then: nothing of later months, and too few points for changes over three periods.
    assert {one["period"] for one in then["items"]} == {"2026-03-01"}
    assert not then["available"]
    assert asked(bench) == before


def test_the_market_of_the_moment_is_asked_live_and_says_so(bench: FetchContext) -> None:
    before = asked(bench)
    reported = ask(bench, "app_market", kind="sentiment")

    assert asked(bench) != before, "the counter counts"
    assert reported["receipts"]["live"]
    assert reported["receipts"]["sources"] == ["tcp_terminal"]
    assert reported["items"][0]["data"]["breadth"]["total"] > 50


def test_only_tools_that_say_so_ask_outside(bench: FetchContext) -> None:
    before = asked(bench)
    arguments: dict[str, dict[str, Any]] = {
        "app_find": {"query": "银行"},
        "app_scan": {"dsl": "pe_ttm > 0"},
        "app_info": {"interface": "get_stock_master", "params": {"code": "600040"}},
    }
    for name, tool in tools().items():
        if not tool.login and (not tool.open_world or name in arguments):
            ask(bench, name, **arguments.get(name, {}))

    assert asked(bench) == before
