"""From a computed value through the rows that it was computed from to the upstreams' answers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from platform_assets.pipeline.on_demand import download
from resources.warehouse.slices import Slice
from resources.warehouse.stored import ANY
from resources.warehouse.writer import Batch
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services
from tests.serving_api.admin.conftest import FetchContext, opened_context

BANK = "600040"


@pytest.fixture(scope="module")
def services(module_url: str, services_folder: Path, world: World) -> Iterator[Services]:
    """A whole day over a month of bars."""
    with opened_services(module_url, services_folder, world) as opened:
        dates = opened.run.calendar.last(23, TODAY)
        opened.master()
        opened.fuse("exright", *dates)
        opened.fuse("kline_daily", *dates)
        download(opened.run, [BANK], ["holder_num"], TODAY)
        put_reports(opened)
        opened.day()
        yield opened


def put_reports(opened: Services) -> None:
    """Two report periods of the bank; the notice of the newer one comes after the day."""
    rows = [
        {"code": BANK, "report_period": period, "ann_date": ann_date, "eps": eps, "src": "eastmoney"}
        for period, ann_date, eps in (
            ("2026-03-31", "2026-04-25", 0.25),
            ("2026-06-30", "2026-08-25", 0.75),
        )
    ]
    opened.warehouse.writer.write(
        opened.warehouse.table("fusion_finance_indicator"),
        pd.DataFrame(rows),
        where=Slice.of_codes([BANK]),
        batch=Batch(partition_key="test"),
    )


@pytest.fixture(scope="module")
def ctx(services: Services, services_folder: Path) -> Iterator[FetchContext]:
    with opened_context(services.warehouse, services_folder, services.clock) as opened:
        yield opened


def wide(ctx: FetchContext, **more: Any) -> Any:
    return ctx.results("/datamgr/lineage/fusion_stock_wide", code=BANK, trade_date=TODAY, **more)


@pytest.mark.parametrize(
    ("column", "owner", "date_column", "upstream"),
    [
        ("pe_ttm", "fusion_valuation", "date", "eastmoney"),
        ("float_market_cap", "fusion_valuation", "date", "eastmoney"),
        ("total_market_cap", "fusion_valuation", "date", "eastmoney"),
        ("volume_ratio", "fusion_quote_snapshot", "trade_date", "tencent"),
        ("main_net", "fusion_fund_flow", "date", "eastmoney"),
        ("current_price", "fusion_quote_snapshot", "trade_date", "tencent"),
    ],
)
def test_a_joined_value_is_followed_to_the_answer_that_holds_it(
    ctx: FetchContext, column: str, owner: str, date_column: str, upstream: str
) -> None:
    found = wide(ctx, column=column, payload="true")

    reported = found["columns"][column]
    place = reported["from"]
    assert (place["table"], place["key"]) == (owner, {"code": BANK, date_column: TODAY})
    # That row says of the column there what each of its sources reports.
    there = ctx.results(f"/datamgr/lineage/{owner}", **place["key"], column=place["column"])
    assert there["columns"][place["column"]]["value"] == reported["value"]
    sources = {one["source"]: one["value"] for one in there["reported"]}
    assert sources[there["columns"][place["column"]]["source"]] == reported["value"]
    tables = [batch["table_name"] for batch in found["batches"]]
    stem = owner.removeprefix("fusion_")
    assert tables[:3] == ["fusion_stock_wide", owner, f"stg_{stem}"]
    assert set(tables[3:]) <= {"raw_quote", "raw_valuation", "raw_fund_flow"}
    bodies = [
        item["payload"]["content"]
        for item in found["raw"]
        if item["fetch"] and item["fetch"]["upstream"] == upstream and item["payload"]["encoding"] == "text"
    ]
    numbers = {float(text) for body in bodies for text in re.findall(r"-?[0-9]+(?:\.[0-9]+)?", body)}
    # As it stands there, or (caps) in CNY where we have 10k CNY.
    assert reported["value"] in numbers | {round(number / 10_000, 2) for number in numbers}


def test_a_count_of_holders_is_followed_to_the_newest_one_that_was_announced(ctx: FetchContext) -> None:
    reported = wide(ctx, column="holder_num")

    assert reported["columns"]["holder_num"]["value"] == 100_871
    assert reported["columns"]["holder_num"]["from"] == {
        "table": "fusion_holder",
        "key": {"code": BANK, "date": "2026-03-31"},
        "column": "holder_num",
    }
    tables = [batch["table_name"] for batch in reported["batches"]]
    assert tables == ["fusion_stock_wide", "fusion_holder", "stg_holder", "raw_holder_num"]
    assert any("RPT_HOLDERNUM_DET" in item["fetch"]["request"] for item in reported["raw"])


def test_a_reported_figure_rests_on_the_report_that_was_known(ctx: FetchContext) -> None:
    reported = wide(ctx, column="eps")["columns"]["eps"]

    assert reported["value"] == 0.25
    assert reported["from"] == {
        "table": "fusion_finance_indicator",
        "key": {"code": BANK, "report_period": "2026-03-31"},
        "column": "eps",
    }


def test_a_figure_of_many_bars_goes_on_through_the_newest_of_them(ctx: FetchContext) -> None:
    found = wide(ctx, column="ma5_dev_pct")

    assert found["columns"]["ma5_dev_pct"]["from"] is None
    assert [batch["table_name"] for batch in found["batches"]][:2] == [
        "fusion_stock_wide",
        "fusion_kline_daily",
    ]
    assert any(BANK in item["fetch"]["request"] for item in found["raw"])


def test_a_whole_row_rests_on_every_table_that_was_read(ctx: FetchContext) -> None:
    found = wide(ctx)

    winner = found["batches"][0]
    read = {item["table"] for item in winner["inputs"]}
    assert read >= {"fusion_kline_daily", "fusion_valuation", "fusion_stock_master"}
    assert read <= {batch["table_name"] for batch in found["batches"]}
    assert found["columns"]["industry"]["from"]["table"] == "fusion_stock_industry"
    assert found["columns"]["list_date"]["from"]["table"] == "fusion_stock_master"
    assert found["columns"]["total_volume"]["from"] is None  # shares there, lots here


def test_a_value_missing_in_its_owner_is_traced_to_another_source(
    ctx: FetchContext, services: Services
) -> None:
    """Also today: what a bar has is the same whenever it is loaded. A quote of the past has no limits."""
    assert wide(ctx, column="change_pct")["columns"]["change_pct"]["from"]["table"] == "fusion_kline_daily"
    past = services.run.calendar.offset(TODAY, -1)
    for name in ("raw_quote",):
        services.raw(name, past)
    services.stage("quote_snapshot", past)
    services.fuse("quote_snapshot", past)
    services.fuse("stock_wide", past)

    found = ctx.results("/datamgr/lineage/fusion_stock_wide", code=BANK, trade_date=past, column="limit_up")

    reported = found["columns"]["limit_up"]
    assert reported["value"] is not None
    bar = {"table": "fusion_kline_daily", "key": {"code": BANK, "date": past}, "column": "limit_up"}
    assert reported["from"] == bar
    assert [batch["table_name"] for batch in found["batches"]][:2] == [
        "fusion_stock_wide",
        "fusion_kline_daily",
    ]


def test_no_raw_row_is_shown_twice(ctx: FetchContext) -> None:
    """Quotes feed the master, the valuation and the quote that the row was joined from."""
    raw = wide(ctx)["raw"]

    rows = [(item["table"], json.dumps(item["key"]), item["fetch"]["id"]) for item in raw if item["table"]]
    assert rows
    assert len(rows) == len(set(rows))


def test_the_bar_of_an_open_period_goes_on_through_its_newest_day(
    ctx: FetchContext, services: Services
) -> None:
    month = services.warehouse.rows("fusion_kline_bar", ANY.code == BANK, ANY.period == "month")[0]
    assert month["date"] > TODAY

    found = ctx.results(
        "/datamgr/lineage/fusion_kline_bar", code=BANK, period="month", date=month["date"], column="close"
    )

    assert found["columns"]["close"]["value"] == month["close"]
    assert found["columns"]["close"]["from"] == {
        "table": "fusion_kline_daily",
        "key": {"code": BANK, "date": TODAY},
        "column": "close",
    }
    assert any(BANK in item["fetch"]["request"] for item in found["raw"])


def test_a_name_that_was_read_from_quotes_is_followed_to_them(ctx: FetchContext, services: Services) -> None:
    """The spans of names are put together from a list that was asked for, and from quotes that were read."""
    span = services.warehouse.rows("ref_name_history", ANY.code == BANK, ANY.src == "tencent")[0]
    assert span["valid_from"] < TODAY

    found = ctx.results(
        "/datamgr/lineage/ref_name_history", code=BANK, valid_from=span["valid_from"], column="name"
    )

    assert {item["table"] for item in found["raw"]} == {"raw_quote"}
    assert {item["source"] for item in found["raw"]} == {"tencent"}
    assert found["columns"]["name"]["from"]["key"]["src"] == "tencent"


def test_a_correction_after_the_join_is_not_named_as_what_was_joined(
    ctx: FetchContext, services: Services
) -> None:
    before = wide(ctx, column="pe_ttm")
    row = services.warehouse.rows("fusion_valuation", ANY.code == BANK, ANY.date == TODAY)[0]
    moment = services.clock.at
    services.clock.at = moment.replace(hour=20)
    frame = services.warehouse.frame("fusion_valuation", where=Slice.of_date("date", TODAY, (BANK,)))
    frame["pe_ttm"] = row["pe_ttm"] + 1
    services.warehouse.writer.write(
        services.warehouse.table("fusion_valuation"),
        frame.assign(provenance=None),
        where=Slice.of_date("date", TODAY, (BANK,)),
        batch=Batch(partition_key=TODAY),
    )
    after = wide(ctx, column="pe_ttm")
    services.clock.at = moment

    assert after["columns"]["pe_ttm"] == before["columns"]["pe_ttm"]
    assert [one["batch_id"] for one in after["batches"]] == [one["batch_id"] for one in before["batches"]]
