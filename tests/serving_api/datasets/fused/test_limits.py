"""Interfaces over the limit pools, reasons, hot lists and the tree map, on both engines."""

from typing import Any

import pandas as pd
import pytest

from resources.warehouse.slices import Slice
from resources.warehouse.writer import Batch
from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import TODAY

BEFORE = "2026-08-20"


def up(code: str, boards: int | None, seal: str, day: str = TODAY, pool: str = "up") -> dict[str, Any]:
    return {"trade_date": day, "pool": pool, "code": code, "name": f"名{code}", "price": 10.0,
            "limit_days": boards, "first_seal_time": seal, "zt_stat": f"{boards}天{boards}板"}  # fmt: skip


POOL = [
    up("600001", 1, "10:00:00"),
    up("600002", 3, "09:30:01"),
    up("600003", 1, "09:25:00"),
    up("600004", None, "09:26:00"),
    up("600005", 2, "14:00:00", pool="down"),
    up("600002", 2, "09:45:00", day=BEFORE),
]
REASON = [
    {"trade_date": TODAY, "code": "600001", "name": "甲", "reason": "芯片+军工", "tags": '["芯片","军工"]',
     "first_time": "10:00:00"},
    {"trade_date": TODAY, "code": "600002", "name": "乙", "reason": "白酒", "tags": '["白酒"]',
     "first_time": "09:30:01"},
    {"trade_date": BEFORE, "code": "600002", "name": "乙", "reason": "消费", "tags": '["消费"]'},
]  # fmt: skip
HOT = [
    *(
        {"trade_date": TODAY, "list_type": "em_rank", "code": f"60{at:04d}", "rank_no": at}
        for at in range(1, 61)
    ),
    {"trade_date": BEFORE, "list_type": "em_rank", "code": "600001", "rank_no": 7},
    {"trade_date": TODAY, "list_type": "ths_hot", "code": "600001", "rank_no": 9},
]
MAP = [
    {"trade_date": day, "node_code": code, "level": level, "name": code, "rank_no": rank}
    for day in (BEFORE, TODAY)
    for code, level, rank in (
        ("ROOT", "market", 1),
        ("BK1", "sector", 2),
        ("BK2", "sector", 1),
        ("600001", "stock", 1),
    )
]


@pytest.fixture(scope="module", autouse=True)
def stored(fused: Bench) -> None:
    for name, rows in (
        ("raw_limit_pool", POOL),
        ("raw_limitup_reason", REASON),
        ("raw_hot_stocks", HOT),
        ("fusion_market_cloud_map", MAP),
    ):
        warehouse = fused.extra["warehouse"]
        frame = pd.DataFrame([{"src": "ths", **row} for row in rows])
        warehouse.writer.write(warehouse.table(name), frame, where=Slice(), batch=Batch(partition_key="test"))


def call(fused: Bench, interface: str, **params: object) -> Any:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": interface, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def codes(rows: list[dict[str, Any]]) -> list[str]:
    return [row["code"] for row in rows]


def test_a_pool_is_in_the_order_of_its_seals(fused: Bench) -> None:
    assert codes(call(fused, "get_limit_pool")) == ["600003", "600004", "600002", "600001"]
    assert codes(call(fused, "get_limit_pool", pool="down")) == ["600005"]
    assert codes(call(fused, "get_limit_pool", trade_date=BEFORE)) == ["600002"]
    assert call(fused, "get_limit_pool", pool="strong") == []


def test_the_ladder_has_a_rung_for_each_height(fused: Bench) -> None:
    ladder = call(fused, "get_limit_ladder")

    assert (ladder["trade_date"], ladder["total"], ladder["highest"]) == (TODAY, 4, 3)
    assert [(rung["limit_days"], rung["count"], codes(rung["stocks"])) for rung in ladder["levels"]] == [
        (3, 1, ["600002"]),
        (1, 2, ["600003", "600001"]),
    ]
    assert call(fused, "get_limit_ladder", trade_date="2026-08-19") == {
        "trade_date": "2026-08-19",
        "total": 0,
        "highest": 0,
        "levels": [],
    }


def test_events_of_one_code_are_oldest_first(fused: Bench) -> None:
    rows = call(fused, "get_limit_history", code="600002")

    assert [(row["trade_date"], row["limit_days"]) for row in rows] == [(BEFORE, 2), (TODAY, 3)]
    assert len(call(fused, "get_limit_history", code="600002", limit=1)) == 1


def test_reasons_are_searched(fused: Bench) -> None:
    assert codes(call(fused, "get_limitup_reason")) == ["600002", "600001"]
    found = call(fused, "get_limitup_reason", keyword="芯片")
    assert (codes(found), found[0]["tags"]) == (["600001"], ["芯片", "军工"])
    assert codes(call(fused, "get_limitup_reason", keyword="芯　片 ")) == ["600001"]
    assert call(fused, "get_limitup_reason", keyword="没有") == []
    history = call(fused, "get_limitup_reason_history", code="600002")
    assert [row["reason"] for row in history] == ["消费", "白酒"]


def test_hot_lists_are_distinguished(fused: Bench) -> None:
    rows = call(fused, "get_hot_stocks")

    assert [row["rank_no"] for row in rows] == list(range(1, 51))
    assert {row["list_type"] for row in rows} == {"em_rank"}
    assert codes(call(fused, "get_hot_stocks", list_type="ths_hot")) == ["600001"]
    ranks = call(fused, "get_hot_rank_history", code="600001")
    assert [(row["trade_date"], row["rank_no"]) for row in ranks] == [(BEFORE, 7), (TODAY, 1)]


def test_the_map_is_read_by_level_and_a_sector_by_its_code(fused: Bench) -> None:
    assert [row["node_code"] for row in call(fused, "get_market_cloud_map")] == ["BK2", "BK1"]
    assert [row["node_code"] for row in call(fused, "get_market_cloud_map", level="market")] == ["ROOT"]
    history = call(fused, "get_sector_history", industry_code="BK1")
    assert [row["trade_date"] for row in history] == [BEFORE, TODAY]


@pytest.mark.parametrize(
    ("interface", "params", "parameter"),
    [
        ("get_limit_pool", {"pool": "sideways"}, "pool"),
        ("get_limit_pool", {"trade_date": "2026-08-22"}, "trade_date"),
        ("get_limit_ladder", {"trade_date": "2026-08-15"}, "trade_date"),
        ("get_limit_history", {}, "code"),
        ("get_hot_stocks", {"list_type": "nobody"}, "list_type"),
        ("get_hot_stocks", {"limit": 0}, "limit"),
        ("get_sector_history", {}, "industry_code"),
    ],
)
def test_bad_parameters_are_named(
    fused: Bench, interface: str, params: dict[str, Any], parameter: str
) -> None:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": interface, "params": params})

    assert answer.status_code == 422
    assert parameter in answer.json()["detail"]


def test_raw_tables_keep_no_versions(fused: Bench) -> None:
    body = {"interface": "get_limit_pool", "params": {}, "as_of": TODAY}

    answer = fused.api.post("/datamgr/fusion/call", json=body)

    assert answer.status_code == 422
    assert "as_of" in answer.text
