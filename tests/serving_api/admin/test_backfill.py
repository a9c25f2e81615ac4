"""Backfills: asked for by range, told with what ledger and queue know, canceled and resumed."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import CommandQueue
from serving_api.admin import backfill as backfills
from tests.serving_api.admin.conftest import DATES, FetchContext
from tests.serving_api.admin.test_gaps import INDEX, batch

PATH = "/datamgr/backfill"
RANGE = {"dataset": "index_daily", "from": DATES[0], "to": DATES[4]}


def start(ctx: FetchContext, **body: Any) -> httpx.Response:
    return ctx.send("POST", PATH, json={**RANGE, **body})


def act(ctx: FetchContext, backfill_id: str, what: str) -> httpx.Response:
    return ctx.send("POST", f"{PATH}/{backfill_id}/{what}")


def test_a_backfill_is_a_command_for_the_missing_dates(lite: FetchContext) -> None:
    for day in (DATES[0], DATES[2]):
        batch(lite, INDEX, day)

    answer = start(lite)
    reported = answer.json()["results"]
    command = CommandQueue(lite.warehouse.engine).get(reported["command_id"])
    shown = lite.results(f"{PATH}/{reported['id']}")

    assert (answer.status_code, reported["status"], reported["partitions"]) == (202, "accepted", 3)
    assert (command.command, command.args) == ("backfill", {"backfill_id": reported["id"], "table": INDEX})
    assert Backfills(lite.warehouse.engine).get(reported["id"]).days == (DATES[1], DATES[3], DATES[4])
    assert (shown["status"], shown["partitions"]) == ("queued", {"total": 3, "done": 0, "failed": 0})
    assert (shown["dataset"], shown["from"], shown["to"]) == ("index_daily", DATES[0], DATES[4])
    assert (shown["requested_by"], shown["failures"], shown["run_ids"]) == ("admin", [], [])
    listed = lite.get(PATH).json()
    assert [item["id"] for item in listed["results"]] == [reported["id"]]
    assert (listed["total"], lite.get(PATH, status="failed").json()["total"]) == (1, 0)


def test_one_backfill_of_a_dataset_at_a_time(lite: FetchContext) -> None:
    first = start(lite).json()["results"]["id"]

    assert start(lite).status_code == 409
    assert first in start(lite).json()["detail"]
    assert start(lite, dataset="kline_daily").status_code == 202
    assert act(lite, first, "resume").status_code == 409
    assert act(lite, first, "cancel").json()["results"] == {"id": first, "status": "canceled"}
    assert act(lite, first, "cancel").status_code == 409
    assert lite.results(f"{PATH}/{first}")["status"] == "canceled"
    assert start(lite).status_code == 202


def test_of_two_processes_that_both_looked_first_one_is_heard(
    lite: FetchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfills, "_refuse_second", lambda *_: None)
    first = start(lite).json()["results"]["id"]

    assert start(lite).status_code == 409
    assert start(lite, dataset="kline_daily").status_code == 202
    found = [item for item in lite.results(PATH) if item["dataset"] == "index_daily"]
    assert {item["status"]: item["id"] == first for item in found} == {"queued": True, "canceled": False}


def launched(ctx: FetchContext) -> str:
    """A backfill that the worker has asked Dagster for."""
    queue, ledger = CommandQueue(ctx.warehouse.engine), Backfills(ctx.warehouse.engine)
    one: str = start(ctx).json()["results"]["id"]
    claimed = queue.claim("test")
    assert claimed is not None
    ledger.launched(one, "abc", now=ctx.clock.now())
    queue.finish(claimed, "success")
    return one


def test_a_running_one_is_asked_to_stop_and_goes_on_with_what_is_left(bare: FetchContext) -> None:
    ledger, one = Backfills(bare.warehouse.engine), launched(bare)
    assert bare.results(f"{PATH}/{one}")["status"] == "running"
    assert start(bare).status_code == 409

    assert act(bare, one, "cancel").json()["results"]["status"] == "canceling"
    assert bare.results(f"{PATH}/{one}")["status"] == "canceling"
    assert ledger.get(one).cancel_requested
    failures = {DATES[1]: "upstream is silent"}
    ended = replace(
        ledger.get(one), status="canceled", done=2, failed=1, rows_written=14, run_ids=("r1",),
        failures=failures,
    )  # fmt: skip
    ledger.show(ended, at=bare.clock.now())
    shown = bare.results(f"{PATH}/{one}")
    assert (shown["status"], shown["partitions"]) == ("canceled", {"total": 5, "done": 2, "failed": 1})
    assert (shown["rows_written"], shown["run_ids"]) == (14, ["r1"])
    assert shown["failures"] == [{"partition": DATES[1], "error": "upstream is silent"}]

    again = act(bare, one, "resume")
    assert (again.status_code, again.json()["results"]["remaining"]) == (202, 3)
    assert bare.results(f"{PATH}/{one}")["status"] == "queued"


def test_one_that_is_being_asked_for_is_canceled_as_soon_as_dagster_has_it(lite: FetchContext) -> None:
    queue, ledger = CommandQueue(lite.warehouse.engine), Backfills(lite.warehouse.engine)
    one = start(lite).json()["results"]["id"]
    assert queue.claim("test") is not None

    assert act(lite, one, "cancel").json()["results"]["status"] == "canceling"
    assert ledger.get(one).cancel_requested


def test_a_backfill_whose_command_failed_without_it_has_failed(lite: FetchContext) -> None:
    queue = CommandQueue(lite.warehouse.engine)
    one = start(lite).json()["results"]["id"]
    claimed = queue.claim("test")
    assert claimed is not None
    queue.finish(claimed, "failed", error="the worker died")

    assert lite.results(f"{PATH}/{one}")["status"] == "failed"
    assert start(lite).status_code == 202


def test_invalid_requests_ask_no_source(lite: FetchContext) -> None:
    for day in DATES:
        batch(lite, INDEX, day)
    for body, status, words in (
        ({}, 422, "is loaded already"),
        ({"dataset": "stock_master"}, 422, "is not loaded by trade date"),
        ({"dataset": "nothing"}, 404, "nothing"),
        ({"plan_id": "x"}, 422, "plan_id"),
    ):
        answer = start(lite, **body)
        assert (answer.status_code, words in answer.json()["detail"]) == (status, True)
    assert lite.get("/datamgr/commands").json()["total"] == 0
    for what in ("", "/cancel", "/resume"):
        method = "POST" if what else "GET"
        assert lite.send(method, f"{PATH}/nothing{what}").status_code == 404
    assert start(lite, only_missing=False).status_code == 202
