"""From a computed value through the rows that it was computed from to the upstreams' answers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from platform_assets.pipeline.on_demand import download
from resources.simulated_market.world.model import World
from resources.warehouse.slices import Slice
from resources.warehouse.writer import Batch
from tests.pipeline.conftest import TODAY, House, opened_house
from tests.serving_api.admin.conftest import Desk, opened_desk

BANK = "600040"


@pytest.fixture(scope="module")
def house(module_url: str, house_folder: Path, world: World) -> Iterator[House]:
    """A whole day over a month of bars."""
    with opened_house(module_url, house_folder, world) as opened:
        dates = opened.run.calendar.last(23, TODAY)
        opened.master()
        opened.fuse("exright", *dates)
        opened.fuse("kline_daily", *dates)
        download(opened.run, [BANK], ["holder_num"], TODAY)
        put_reports(opened)
        opened.day()
        yield opened


def put_reports(opened: House) -> None:
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
def desk(house: House, house_folder: Path) -> Iterator[Desk]:
    with opened_desk(house.warehouse, house_folder, house.clock) as opened:
        yield opened


def wide(desk: Desk, **more: Any) -> Any:
    return desk.results("/datamgr/lineage/fusion_stock_wide", code=BANK, trade_date=TODAY, **more)


@pytest.mark.parametrize(
    ("column", "owner", "date_column", "upstream"),
    [
        ("pe_ttm", "fusion_valuation", "date", "eastmoney"),
        ("float_market_cap", "fusion_valuation", "date", "eastmoney"),
        ("total_market_cap", "fusion_valuation", "date", "eastmoney"),
        ("change_pct", "fusion_quote_snapshot", "trade_date", "tencent"),
        ("main_net", "fusion_fund_flow", "date", "eastmoney"),
        ("current_price", "fusion_quote_snapshot", "trade_date", "tencent"),
    ],
)
def test_a_joined_value_is_followed_to_the_answer_that_holds_it(
    desk: Desk, column: str, owner: str, date_column: str, upstream: str
) -> None:
    found = wide(desk, column=column, payload="true")

    told = found["columns"][column]
    assert told["from"] == {"table": owner, "key": {"code": BANK, date_column: TODAY}}
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
    assert told["value"] in numbers | {round(number / 10_000, 2) for number in numbers}


def test_a_count_of_holders_is_followed_to_the_newest_one_that_was_announced(desk: Desk) -> None:
    told = wide(desk, column="holder_num")

    assert told["columns"]["holder_num"]["value"] == 100_871
    assert told["columns"]["holder_num"]["from"] == {
        "table": "fusion_holder",
        "key": {"code": BANK, "date": "2026-03-31"},
    }
    tables = [batch["table_name"] for batch in told["batches"]]
    assert tables == ["fusion_stock_wide", "fusion_holder", "stg_holder", "raw_holder_num"]
    assert any("RPT_HOLDERNUM_DET" in item["fetch"]["request"] for item in told["raw"])


def test_a_reported_figure_rests_on_the_report_that_was_known(desk: Desk) -> None:
    told = wide(desk, column="eps")["columns"]["eps"]

    assert told["value"] == 0.25
    assert told["from"] == {
        "table": "fusion_finance_indicator",
        "key": {"code": BANK, "report_period": "2026-03-31"},
    }


def test_a_figure_of_many_bars_goes_on_through_the_newest_of_them(desk: Desk) -> None:
    found = wide(desk, column="ma5_dev_pct")

    assert found["columns"]["ma5_dev_pct"]["from"] is None
    assert [batch["table_name"] for batch in found["batches"]][:2] == [
        "fusion_stock_wide",
        "fusion_kline_daily",
    ]
    assert any(BANK in item["fetch"]["request"] for item in found["raw"])


def test_a_whole_row_rests_on_every_table_that_was_read(desk: Desk) -> None:
    found = wide(desk)

    winner = found["batches"][0]
    read = {item["table"] for item in winner["inputs"]}
    assert read >= {"fusion_kline_daily", "fusion_valuation", "fusion_stock_master"}
    assert read <= {batch["table_name"] for batch in found["batches"]}
    assert found["columns"]["industry"]["from"]["table"] == "fusion_stock_industry"
    assert found["columns"]["list_date"]["from"]["table"] == "fusion_stock_master"
    assert found["columns"]["total_volume"]["from"] is None  # shares there, lots here


def test_a_value_that_the_owner_lacked_is_followed_to_who_had_it(desk: Desk, house: House) -> None:
    """A quote of the past has no limits; the wide row took those of the bar."""
    past = house.run.calendar.offset(TODAY, -1)
    for name in ("raw_quote",):
        house.raw(name, past)
    house.stage("quote_snapshot", past)
    house.fuse("quote_snapshot", past)
    house.fuse("stock_wide", past)

    found = desk.results("/datamgr/lineage/fusion_stock_wide", code=BANK, trade_date=past, column="limit_up")

    told = found["columns"]["limit_up"]
    assert told["value"] is not None
    assert told["from"] == {"table": "fusion_kline_daily", "key": {"code": BANK, "date": past}}
    assert [batch["table_name"] for batch in found["batches"]][:2] == [
        "fusion_stock_wide",
        "fusion_kline_daily",
    ]


def test_no_raw_row_is_shown_twice(desk: Desk) -> None:
    """Quotes feed the master, the valuation and the quote that the row was joined from."""
    raw = wide(desk)["raw"]

    rows = [(item["table"], json.dumps(item["key"]), item["fetch"]["id"]) for item in raw if item["table"]]
    assert rows
    assert len(rows) == len(set(rows))


def test_the_bar_of_an_open_period_goes_on_through_its_newest_day(desk: Desk, house: House) -> None:
    month = house.warehouse.rows("fusion_kline_bar", where="code=? AND period='month'", values=(BANK,))[0]
    assert month["date"] > TODAY

    found = desk.results(
        "/datamgr/lineage/fusion_kline_bar", code=BANK, period="month", date=month["date"], column="close"
    )

    assert found["columns"]["close"]["value"] == month["close"]
    assert found["columns"]["close"]["from"] == {
        "table": "fusion_kline_daily",
        "key": {"code": BANK, "date": TODAY},
    }
    assert any(BANK in item["fetch"]["request"] for item in found["raw"])


def test_a_name_that_was_read_from_quotes_is_followed_to_them(desk: Desk, house: House) -> None:
    """The spans of names are put together from a list that was asked for, and from quotes that were read."""
    span = house.warehouse.rows("ref_name_history", where="code=? AND src='tencent'", values=(BANK,))[0]
    assert span["valid_from"] < TODAY

    found = desk.results(
        "/datamgr/lineage/ref_name_history", code=BANK, valid_from=span["valid_from"], column="name"
    )

    assert {item["table"] for item in found["raw"]} == {"raw_quote"}
    assert {item["source"] for item in found["raw"]} == {"tencent"}
    assert found["columns"]["name"]["from"]["key"]["src"] == "tencent"


def test_a_correction_after_the_join_is_not_named_as_what_was_joined(desk: Desk, house: House) -> None:
    before = wide(desk, column="pe_ttm")
    row = house.warehouse.rows("fusion_valuation", where="code=? AND date=?", values=(BANK, TODAY))[0]
    moment = house.clock.at
    house.clock.at = moment.replace(hour=20)
    frame = house.warehouse.frame("fusion_valuation", where=Slice.of_date("date", TODAY, (BANK,)))
    frame["pe_ttm"] = row["pe_ttm"] + 1
    house.warehouse.writer.write(
        house.warehouse.table("fusion_valuation"),
        frame.assign(provenance=None),
        where=Slice.of_date("date", TODAY, (BANK,)),
        batch=Batch(partition_key=TODAY),
    )
    after = wide(desk, column="pe_ttm")
    house.clock.at = moment

    assert after["columns"]["pe_ttm"] == before["columns"]["pe_ttm"]
    assert [one["batch_id"] for one in after["batches"]] == [one["batch_id"] for one in before["batches"]]
