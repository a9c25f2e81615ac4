"""Gaps are told from the batches over the calendar; a plan says what filling them would cost."""

import uuid
from typing import Any

import httpx

from resources.transport.settings import TransportSettings
from tests.serving_api.admin.conftest import DATES, FetchContext

INDEX = "fusion_index_daily"


def batch(
    ctx: FetchContext, table: str, day: str, rows: int = 7, *, status: str = "success", **facts: Any
) -> None:
    """One batch; its responses are those that `calls` counts by upstream."""
    calls = facts.pop("calls", {})
    batch_id = uuid.uuid4().hex
    values = {
        "batch_id": batch_id,
        "table_name": table,
        "partition_key": day,
        "status": status,
        "rows_ok": rows,
        "rows_warning": 0,
        "started_at": f"{day[:10]} 15:45:00",
        **facts,
    }
    marks = ", ".join("?" for _ in values)
    ctx.execute(f"INSERT INTO sys_batch ({', '.join(values)}) VALUES ({marks})", *values.values())
    for upstream, count in calls.items():
        for _ in range(count):
            ctx.execute(
                "INSERT INTO sys_fetch (fetch_id, batch_id, upstream) VALUES (?, ?, ?)",
                uuid.uuid4().hex,
                batch_id,
                upstream,
            )


def holes(ctx: FetchContext, **params: Any) -> list[tuple[str, str]]:
    return [(item["partition"], item["reason"]) for item in ctx.results("/datamgr/gaps", **params)]


def plan(ctx: FetchContext, **body: Any) -> httpx.Response:
    return ctx.send("POST", "/datamgr/backfill/plan", json={"dataset": "index_daily", **body})


def test_gaps_are_the_trade_dates_without_success_since_the_first_one(bare: FetchContext) -> None:
    assert bare.get("/datamgr/gaps").json()["total"] == 0

    batch(bare, INDEX, DATES[0])
    batch(bare, INDEX, DATES[1], 0, status="failed", run_id="run-1")
    batch(bare, INDEX, DATES[2])
    batch(bare, INDEX, DATES[3], 1)
    # Neither the sum of a range nor another table's batch loads a date.
    batch(bare, INDEX, f"{DATES[0]}..{DATES[4]}", 28)
    batch(bare, "raw_quote", DATES[4])
    batch(bare, "fusion_fund_flow", DATES[4], 0)

    answer = bare.get("/datamgr/gaps", dataset="index_daily").json()
    failed, partial = answer["results"][2], answer["results"][1]

    assert holes(bare, dataset="index_daily") == [
        (DATES[4], "never_run"),
        (DATES[3], "partial"),
        (DATES[1], "failed"),
    ]
    assert (answer["total"], answer["page"], answer["page_size"], answer["stats"]["total"]) == (3, 1, 50, 3)
    assert failed["repair"] == {"status": "open", "attempts": 1, "run_id": "run-1"}
    assert (partial["expected"], partial["present"], partial["missing"]) == (7, 1, 6)
    # Where no row at all is an ordinary answer, a date without one is loaded.
    assert holes(bare, dataset="fund_flow") == []
    assert holes(bare, **{"dataset": "index_daily", "from": DATES[2], "to": DATES[3]}) == [
        (DATES[3], "partial")
    ]
    assert holes(bare, page=2, page_size=2) == [(DATES[1], "failed")]


def test_a_late_publisher_lacks_nothing_that_is_not_out_yet(lite: FetchContext) -> None:
    for day, rows in zip(DATES, (90, 91, 3, 92, 0), strict=True):
        batch(lite, "fusion_margin", day, rows)

    assert holes(lite, dataset="margin") == [(DATES[2], "partial")]


def test_before_the_close_the_day_is_no_gap(lite: FetchContext) -> None:
    batch(lite, INDEX, DATES[3])
    lite.clock.at = lite.clock.at.replace(hour=11)

    assert holes(lite, dataset="index_daily") == []


def test_a_plan_counts_what_the_recorded_loads_cost(bare: FetchContext) -> None:
    batch(bare, INDEX, DATES[0], calls={"tencent": 1})
    batch(bare, INDEX, f"{DATES[1]}..{DATES[2]}", 14, calls={"tencent": 2, "tdx": 9})
    batch(bare, INDEX, DATES[1])
    # What somebody asked of single codes says nothing about a date of the market.
    batch(bare, INDEX, DATES[3], 1, trigger_ref="download", calls={"tdx": 50})

    requested = {"from": "2026-08-15", "to": DATES[4]}
    missing = plan(bare, **requested).json()["results"]
    everything = plan(bare, **requested, only_missing=False).json()["results"]

    assert (missing["partitions"], missing["complete"], missing["rows"]) == (3, 2, 21)
    assert missing["calls"] == {"tdx": 9, "tencent": 3}
    assert (missing["from"], missing["to"], missing["tables"]) == ("2026-08-15", DATES[4], [INDEX])
    assert missing["warnings"] == []
    assert (everything["partitions"], everything["complete"], everything["rows"]) == (5, 2, 35)
    assert everything["calls"] == {"tdx": 15, "tencent": 5}
    assert bare.get("/datamgr/commands").json()["total"] == 0


def test_a_plan_says_what_it_cannot_know(lite: FetchContext) -> None:
    found = plan(lite, **{"dataset": "margin", "from": DATES[0], "to": DATES[4]}).json()["results"]

    assert (found["partitions"], found["complete"], found["calls"], found["rows"]) == (4, 0, {}, None)
    assert {"raw_margin", "exchange_margin", "stg_margin", "fusion_margin"} <= set(found["tables"])
    assert any("raw_margin" in text for text in found["warnings"])
    assert any("rows are not known" in text for text in found["warnings"])


def test_minutes_follow_the_pacing_of_each_upstream() -> None:
    paces = TransportSettings()

    assert paces.seconds("tencent", 100) == 20
    assert paces.seconds("sse", 100) == 65
    assert paces.seconds("tdx", 100) == 0
    # Ten calls in ten minutes are all that its host of bars answers.
    assert paces.seconds("push2his", 10) < 10
    assert paces.seconds("push2his", 25) == 1200
    assert TransportSettings(pacing=False).seconds("sse", 100) == 0


def test_wrong_questions_are_named(lite: FetchContext) -> None:
    whole = {"from": DATES[0], "to": DATES[1]}
    for body, status, words in (
        ({"from": "2026-08-22", "to": "2026-08-23"}, 422, "future"),
        ({"from": "2026-08-15", "to": "2026-08-16"}, 422, "from: there is no complete trade date"),
        ({"from": DATES[1], "to": DATES[0]}, 422, "from"),
        ({"from": "yesterday", "to": DATES[0]}, 422, "from"),
        ({"to": DATES[0]}, 422, "from"),
        ({**whole, "codes": ["600519"]}, 422, "codes"),
        ({**whole, "dataset": "stock_master"}, 422, "is not loaded by trade date"),
        ({**whole, "dataset": "nothing"}, 404, "nothing"),
    ):
        answer = plan(lite, **body)
        assert answer.status_code == status, body
        assert words in answer.json()["detail"]
    assert lite.get("/datamgr/gaps", dataset="nothing").status_code == 404
    assert lite.get("/datamgr/gaps", page_size=201).status_code == 422
