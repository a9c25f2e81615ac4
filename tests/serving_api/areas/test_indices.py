"""Indices and industries, read on both engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock, ManualClock
from core.declaration.registry import builtin_registry
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import FAST, Bench, Ticks, make_settings, without_upstreams

DAYS = shipped_calendar().last(6, "2026-08-20")
NEWEST = DAYS[-1]


def member(index: str, code: str, day: str, provider: str = "csi", **more: Any) -> dict[str, Any]:
    named = {"provider": provider, "index_code": index, "code": code, "as_of_date": day}
    return {**named, "index_name": "沪深300", "name": f"名{code}", **more}


MEMBERS = [
    member("sh000300", "600000", "2026-06-30", weight_pct=99.0),
    member("sh000300", "600000", "2026-07-31", weight_pct=60.0),
    member("sh000300", "000001", "2026-07-31", weight_pct=40.0),
    member("sh000300", "000001", "2026-08-20"),
    member("801780", "000001", "2026-08-20", "sw", index_name="银行", in_date="2021-07-30"),
]
VALUATIONS = [
    {"index_code": "sh000300", "date": day, "index_name": "沪深300", "pe": 14.0 + at, "pe_ttm": 13.0 + at}
    for at, day in enumerate(DAYS)
]
INDUSTRIES = [
    {"standard": standard, "industry_code": code, "date": day, "industry_name": name, "level": level,
     "pe_weighted": 6.0 + at, "pe_median": 7.0}
    for at, day in enumerate(DAYS)
    for standard, code, name, level in (
        ("csrc", "J", "金融业", "1"), ("csrc", "J66", "货币金融服务", "2"), ("sw", "801780", "银行", "l1"),
    )
    if standard != "sw" or day != NEWEST
]  # fmt: skip
CLASSES = [
    {"code": "000001", "name": "平安银行", "sw_l1": "801780", "sw_l1_name": "银行", "sw_l2": "801783",
     "sw_l2_name": "股份制银行", "csrc_industry": "金融业-货币金融服务", "em_industry": "银行"},
    {"code": "600000", "name": "浦发银行", "sw_l1": "801780", "sw_l1_name": "银行", "sw_l2": "801783",
     "sw_l2_name": "股份制银行", "csrc_industry": "金融业-货币金融服务", "em_industry": "银行"},
    {"code": "600519", "name": "贵州茅台", "sw_l1": "801120", "sw_l1_name": "食品饮料",
     "em_industry": "白酒"},
]  # fmt: skip


def put(warehouse: Any, table: str, rows: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame([{"src": "test", **row} for row in rows])
    warehouse.writer.write(warehouse.table(table), frame, where=Slice(), batch=Batch(partition_key="test"))


@pytest.fixture(scope="module")
def bench(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("data")
    tables = builtin_registry().tables
    clock = ManualClock(market.NOW)
    warehouse = market.open_warehouse(shared_warehouse_url, folder, clock=clock, tables=tables)
    warehouse.migrate()
    put(warehouse, "raw_index_constituent", MEMBERS)
    put(warehouse, "raw_index_valuation", VALUATIONS)
    put(warehouse, "raw_industry_valuation", INDUSTRIES)
    put(warehouse, "fusion_stock_industry", CLASSES)
    put(
        warehouse,
        "fusion_valuation",
        [{"code": "000001", "date": NEWEST, "price": 10.0, "pe_ttm": 5.5, "pb": 0.6}],
    )
    put(
        warehouse,
        "fusion_stock_wide",
        [
            {"code": code, "trade_date": NEWEST, "name": code, "total_market_cap": cap, "pe_ttm": 6.0}
            for code, cap in (("000001", 3.0), ("600000", 5.0), ("600519", 9.0))
        ],
    )
    put(
        warehouse,
        "fusion_industry_index",
        [
            {
                "code": code,
                "date": NEWEST,
                "name": code,
                "level": level,
                "close": 1000.0,
                "change_pct": change,
            }
            for code, level, change in (("801780", "l1", 1.0), ("801120", "l1", 2.0), ("801783", "l2", 3.0))
        ],
    )
    for src, price in (("tdx", None), ("eastmoney", 31.39)):
        frame = pd.DataFrame(
            [{"code": "600519", "src": src, "list_date": "2001-08-27", "issue_price": price}]
        )
        warehouse.writer.write(
            warehouse.table("raw_issue_info"),
            frame,
            where=Slice.of_codes(("none",)),
            batch=Batch(partition_key=src),
        )
    ticks = Ticks()
    app = without_upstreams(
        create_app(
            make_settings(folder),
            clock=FrozenClock(market.NOW),
            system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
            warehouse_reader=market.open_warehouse(
                shared_warehouse_url, folder, tables=tables, read_only=True
            ),
            warehouse_writer=market.open_warehouse(
                shared_warehouse_url, folder, tables=tables, pool={"wait_s": 0.2}
            ),
            passwords=FAST,
        )
    )
    with running(app) as api:
        yield Bench(api, ticks, shared_warehouse_url, folder, {"warehouse": warehouse})
    warehouse.close()


def get(bench: Bench, path: str, **params: Any) -> Any:
    answer = bench.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def call(bench: Bench, name: str, **params: Any) -> Any:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_valuation_of_an_index_under_each_of_its_names(bench: Bench) -> None:
    found = get(bench, "/index/valuation/sh000300", days=3)

    assert (found["symbol"], found["name"]) == ("sh000300", "沪深300")
    assert [row["date"] for row in found["items"]] == DAYS[-3:]
    assert found["latest"] == found["items"][-1]
    assert found["latest"]["pe_ttm"] == 18.0
    assert get(bench, "/index/valuation/000300", days=3) == found
    assert get(bench, "/index/valuation/399001") == {
        "symbol": "sz399001", "name": None, "items": [], "latest": {}, "first_date": None,
        "note": "nothing is stored yet",
    }  # fmt: skip


def test_ratios_say_how_far_back_they_reach(bench: Bench) -> None:
    short = f"6 of 7 trade dates are stored; the first stored date is {DAYS[0]}"
    for path, asked in (
        ("/index/valuation/sh000300", {}),
        ("/industry/valuation/detail", {"industry_code": "J66"}),
    ):
        whole, more = (get(bench, path, days=days, **asked) for days in (6, 7))
        assert (whole["first_date"], whole["note"]) == (DAYS[0], None), path
        assert (more["first_date"], more["note"]) == (DAYS[0], short), path
    # The same code in another classification is another industry.
    other = get(bench, "/industry/valuation/detail", industry_code="J66", standard="sw")
    assert (other["first_date"], other["note"]) == (None, "nothing is stored yet")


def test_weights_are_of_the_newest_list_that_has_them(bench: Bench) -> None:
    found = get(bench, "/index/weights/sh000300", limit=1)

    assert found["as_of_date"] == "2026-07-31"
    assert found["items"] == [{"code": "600000", "name": "名600000", "weight_pct": 60.0}]
    assert (found["total"], found["coverage_pct"]) == (2, 60.0)
    assert get(bench, "/index/weights/801780")["items"] == []


def test_constituents_are_of_the_newest_list(bench: Bench) -> None:
    found = get(bench, "/index/constituents/000300")

    assert (found["as_of_date"], found["total"]) == ("2026-08-20", 1)
    assert found["items"] == [{"code": "000001", "name": "名000001", "in_date": None}]
    assert get(bench, "/index/constituents/801780")["items"][0]["in_date"] == "2021-07-30"


@pytest.mark.parametrize("symbol", ["abc", "00030", "hk00700", "sh00030x"])
def test_what_is_no_index_is_named(bench: Bench, symbol: str) -> None:
    answer = bench.api.get(f"/index/valuation/{symbol}")

    assert answer.status_code == 422
    assert "symbol" in answer.text


def test_industries_of_one_classification(bench: Bench) -> None:
    found = get(bench, "/industry/valuation")

    assert (found["standard"], found["date"], found["total"]) == ("csrc", NEWEST, 2)
    assert [row["industry_code"] for row in found["items"]] == ["J", "J66"]
    assert get(bench, "/industry/valuation", level="2")["total"] == 1
    # Another classification may have come out less recently.
    assert get(bench, "/industry/valuation", standard="sw")["date"] == DAYS[-2]
    assert get(bench, "/industry/valuation", standard="cni") == {
        "standard": "cni", "date": None, "items": [], "total": 0, "first_date": None,
        "note": "nothing is stored yet",
    }  # fmt: skip
    assert (found["first_date"], found["note"]) == (DAYS[0], None)
    early = get(bench, "/industry/valuation", date="2020-01-02")
    assert early["items"] == []
    assert early["note"] == f"nothing is stored of 2020-01-02; the first stored date is {DAYS[0]}"
    for wrong in ({"standard": "gics"}, {"date": "2999-01-01"}, {"level": "9"}):
        answer = bench.api.get("/industry/valuation", params=wrong)
        assert answer.status_code == 422
        assert next(iter(wrong)) in answer.text


def test_one_industry_with_its_stocks(bench: Bench) -> None:
    found = get(bench, "/industry/valuation/detail", industry_code="J66", days=2)

    assert found["industry_name"] == "货币金融服务"
    assert [row["date"] for row in found["items"]] == DAYS[-2:]
    assert found["members"] == [
        {"code": "000001", "name": "平安银行", "pe_ttm": 5.5, "pb": 0.6},
        {"code": "600000", "name": "浦发银行", "pe_ttm": None, "pb": None},
    ]
    sw = get(bench, "/industry/valuation/detail", industry_code="801780", standard="sw")
    assert [one["code"] for one in sw["members"]] == ["000001", "600000"]
    assert get(bench, "/industry/valuation/detail", industry_code="X")["items"] == []


def test_the_interfaces(bench: Bench) -> None:
    assert [row["code"] for row in call(bench, "get_index_constituents", index_code="sh000300")] == ["000001"]
    assert call(bench, "get_index_constituents", index_code="801780") == []
    sw = call(bench, "get_index_constituents", index_code="801780", provider="sw")
    assert [row["code"] for row in sw] == ["000001"]
    weights = call(bench, "get_index_weights", index_code="sh000300")
    assert [row["weight_pct"] for row in weights] == [60.0, 40.0]
    history = call(bench, "get_index_valuation", index_code="sh000300", limit=2)
    assert [row["date"] for row in history] == DAYS[-2:]

    assert len(call(bench, "get_industry_valuation", date=NEWEST)) == 2
    series = call(bench, "get_industry_valuation_history", industry_code="801780", standard="sw")
    assert [row["date"] for row in series] == DAYS[:-1]

    rows = call(bench, "get_industry_index_by_date", sort="-change_pct")
    assert [row["code"] for row in rows] == ["801120", "801780"]
    assert call(bench, "get_industry_index_by_date", level="l2")[0]["code"] == "801783"
    assert call(bench, "get_industry_index_daily", industry_code="801783")[0]["close"] == 1000.0


def test_industries_of_the_stocks(bench: Bench) -> None:
    assert call(bench, "get_industry_list") == [
        {"industry_code": "801780", "industry_name": "银行", "member_count": 2},
        {"industry_code": "801120", "industry_name": "食品饮料", "member_count": 1},
    ]
    assert [row["code"] for row in call(bench, "get_industry_members", industry_code="801780")] == [
        "000001",
        "600000",
    ]
    assert len(call(bench, "get_industry_members", industry_code="白酒", level="em_industry")) == 1
    assert [row["code"] for row in call(bench, "get_industry_peers", code="000001")] == ["600000"]
    assert call(bench, "get_industry_peers", code="600519") == []
    wrong = {"interface": "get_industry_list", "params": {"level": "gics"}}
    answer = bench.api.post("/datamgr/fusion/call", json=wrong)
    assert answer.status_code == 422
    assert "level" in answer.text


def test_of_two_sources_the_better_one_is_used(bench: Bench) -> None:
    row = call(bench, "get_issue_info", code="600519")

    assert (row["src"], row["issue_price"]) == ("eastmoney", 31.39)
