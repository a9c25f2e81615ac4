"""The single syncs: what is asked of the worker, and what its run left behind."""

from collections.abc import Callable
from typing import Any

import httpx

from resources.warehouse.engine import transaction
from resources.warehouse.ledger.commands import Command, CommandQueue
from tests.serving_api.admin.conftest import FetchContext
from tests.serving_api.worker import Work, fail, succeed, worker

CODE = "600519"
BARS = f"fusion/stock/{CODE}/kline-bar/sync"


def sender(ctx: FetchContext) -> Callable[[str], httpx.Response]:
    """POST with patience enough for a busy machine."""
    object.__setattr__(ctx.api.app.state.platform.settings, "command_wait_sec", 5.0)
    return lambda path: ctx.send("POST", f"/datamgr/{path}")


def leave(ctx: FetchContext, table: str, rows: dict[str, Any], **counts: Any) -> Work:
    """A run that leaves rows, and one batch under a parent of a range that repeats its figures."""

    def work(queue: CommandQueue, command: Command) -> None:
        sql = ctx.warehouse.sql
        figures = {"rows_ok": 0, "rows_warning": 0, "rows_written": 0, "rows_rejected": 0, **counts}
        facts = {"table_name": table, "run_id": "run-1", "status": "success", **figures}
        with transaction(ctx.warehouse.engine) as connection:
            for batch_id, parent in (("parent", None), ("own", "parent")):
                batch = {"batch_id": batch_id, "parent_batch_id": parent, **facts}
                connection.exec_driver_sql(sql.insert("sys_batch", list(batch)), tuple(batch.values()))
            connection.exec_driver_sql(sql.insert(table, list(rows["names"])), rows["values"])
        queue.progress(command, {}, run_id="run-1")
        queue.finish(command, "success", result={})

    return work


def test_blocks_are_counted_by_kind(lite: FetchContext) -> None:
    post = sender(lite)
    members = [
        ("zs", "000300", "a", "own"),
        ("gn", "x", "a", "own"),
        ("gn", "x", "b", "earlier"),
        ("hy", "T01", "a", "own"),
    ]
    rows = {"names": ("block_type", "block_code", "code", "batch_id"), "values": members}
    run = leave(lite, "raw_block_member", rows, rows_ok=4, rows_written=3)
    with worker(lite.warehouse.url, run) as done:
        answer = post("block/sync")

    found = answer.json()["results"]
    assert (done[0].command, done[0].args) == ("run_job", {"job": "block_sync", "trigger": "api"})
    assert (found["status"], found["total"], found["saved"]) == ("success", 3, 2)
    assert found["byType"] == {"zs": 1, "gn": 2, "fg": 0}
    assert "3 条" in found["message"]
    assert answer.json()["stats"]["total"] == 3


def test_indices_are_asked_for_a_year_first_and_then_for_what_is_new(bare: FetchContext) -> None:
    post = sender(bare)
    rows = {"names": ("code", "date"), "values": [("sh000001", "2026-08-06")]}
    counts = {"rows_ok": 6, "rows_warning": 1, "rows_written": 7, "rows_rejected": 2}
    with worker(bare.warehouse.url, leave(bare, "fusion_index_daily", rows, **counts)) as done:
        first = post("fusion/index/daily/sync").json()["results"]
    with worker(bare.warehouse.url, fail("kline is locked")) as later:
        second = post("fusion/index/daily/sync").json()["results"]

    since, until = done[0].args["partition_range"]
    assert first["scope"] == f"{since}..{until}"
    assert (since < "2025-10", until) == (True, "2026-08-21")
    assert (first["status"], first["total"], first["saved"]) == ("success", 7, 7)
    assert first["warning"] == "1 rows with a warning; 2 rows rejected"
    assert later[0].args["partition_range"] == ["2026-08-06", until]
    assert (second["status"], second["total"], second["warning"]) == ("failed", 0, "kline is locked")


def test_bars_of_a_code_are_counted_by_period(bare: FetchContext) -> None:
    post = sender(bare)
    stored = [
        (CODE, "week", "2026-08-14", "own"),
        (CODE, "week", "2026-08-21", "own"),
        (CODE, "month", "2026-07-31", "own"),
        (CODE, "month", "2026-06-30", "earlier"),
    ]
    rows = {"names": ("code", "period", "date", "batch_id"), "values": stored}
    run = leave(bare, "fusion_kline_bar", rows, rows_ok=9, rows_written=3)
    with worker(bare.warehouse.url, run) as done:
        found = post(BARS).json()["results"]

    assert done[0].args == {"job": "kline_bar_sync", "trigger": "api", "tags": {"app/codes": CODE}}
    assert (found["status"], found["code"], found["total"], found["warning"]) == ("success", CODE, 9, None)
    assert {period: part["saved"] for period, part in found["periods"].items()} == {
        "week": 2,
        "month": 1,
        "quarter": 0,
        "year": 0,
    }


def test_a_code_without_bars_failed_and_says_so(lite: FetchContext) -> None:
    post = sender(lite)
    with worker(lite.warehouse.url, succeed({})):
        found = post("fusion/stock/999999/kline-bar/sync").json()["results"]

    assert (found["status"], found["total"]) == ("failed", 0)
    assert found["warning"] == "no source has bars of 999999"


def test_what_takes_longer_is_accepted_and_what_failed_says_why(lite: FetchContext) -> None:
    post = sender(lite)
    with worker(lite.warehouse.url, fail("tdx gave no rows")):
        failed = post("block/sync").json()["results"]
    object.__setattr__(lite.api.app.state.platform.settings, "command_wait_sec", 0.05)
    answers = [post(path) for path in ("block/sync", "fusion/index/daily/sync", BARS)]

    assert (failed["status"], failed["message"], failed["total"]) == ("failed", "tdx gave no rows", 0)
    assert [(answer.status_code, answer.json()["results"]["status"]) for answer in answers] == [
        (202, "accepted")
    ] * 3
    assert post("fusion/stock/60051/kline-bar/sync").status_code == 422
