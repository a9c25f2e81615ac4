"""The cleanup route: a command, or a count that deletes nothing."""

from typing import Any

import httpx

from resources.warehouse.ledger.commands import CommandQueue
from tests.serving_api.admin.conftest import FetchContext
from tests.serving_api.worker import fail, succeed, worker

SERIES = {"stg_quote_snapshot", "stg_valuation", "stg_fund_flow", "stg_margin"}
DONE = {
    "status": "success",
    "days": 365,
    "cutoff": "2025-08-21",
    "deleted": {"stg_margin": 2},
    "total": 2,
    "message": "2 rows older than 2025-08-21 deleted",
}


def post(ctx: FetchContext, body: Any = None) -> httpx.Response:
    return ctx.send("POST", "/datamgr/cleanup", json=body)


def patient(ctx: FetchContext) -> None:
    object.__setattr__(ctx.api.app.state.platform.settings, "command_wait_sec", 5.0)


def queued(ctx: FetchContext) -> int:
    return CommandQueue(ctx.warehouse.engine).recent()[1]


def test_a_dry_run_counts_what_would_go_without_a_worker(bare: FetchContext) -> None:
    for day in ("2025-08-20", "2025-08-21"):
        bare.execute("INSERT INTO stg_margin (code, date, src) VALUES (?, ?, ?)", "600519", day, "x")

    found = post(bare, {"dry_run": True}).json()["results"]
    one = post(bare, {"dry_run": True, "table": "stg_margin", "days": 30}).json()["results"]

    assert (found["status"], found["days"], found["cutoff"]) == ("success", 365, "2025-08-21")
    assert found["deleted"].keys() >= SERIES
    assert (found["deleted"]["stg_margin"], found["total"], found["dry_run"]) == (1, 1, True)
    assert one["deleted"] == {"stg_margin": 2}
    assert (bare.scalar("SELECT COUNT(*) FROM stg_margin"), queued(bare)) == (2, 0)


def test_a_query_parameter_that_the_cleanup_does_not_have_is_refused(lite: FetchContext) -> None:
    answer = lite.send("POST", "/datamgr/cleanup?days=29")

    assert answer.status_code == 422
    assert answer.json()["detail"] == "days: is no query parameter of this route; it has none"
    assert answer.json()["errors"][0]["loc"] == ["query", "days"]
    assert queued(lite) == 0


def test_a_cleanup_is_a_command_and_counts_deleted_rows_by_table(lite: FetchContext) -> None:
    patient(lite)
    with worker(lite.warehouse.url, succeed({**DONE, "run_id": "r1"})) as done:
        answer = post(lite)
        post(lite, {"table": "stg_margin", "days": 400})

    assert answer.status_code == 200
    assert answer.json()["results"] == {**DONE, "dry_run": False}
    assert answer.json()["stats"]["total"] == 2
    assert [(item.command, item.args) for item in done] == [
        ("cleanup", {"days": 365, "tables": []}),
        ("cleanup", {"days": 400, "tables": ["stg_margin"]}),
    ]
    assert done[0].requested_by == "admin"


def test_what_failed_says_why(lite: FetchContext) -> None:
    patient(lite)
    with worker(lite.warehouse.url, fail("the run did not start")):
        found = post(lite, {}).json()["results"]

    assert (found["status"], found["message"]) == ("failed", "the run did not start")
    assert (found["deleted"], found["total"]) == ({}, 0)


def test_what_takes_longer_is_accepted_with_the_number_of_its_command(lite: FetchContext) -> None:
    answer = post(lite)

    assert (answer.status_code, answer.json()["results"]["status"]) == (202, "accepted")
    assert lite.results(f"/datamgr/commands/{answer.json()['results']['command_id']}")["command"] == "cleanup"


WRONG: list[tuple[Any, str]] = [
    ({"days": 29}, "days"),
    ({"days": "365"}, "days"),
    ({"days": None}, "days"),
    ({"table": "stg_stock_master"}, "is a dimension and never shortened; allowed: stg_"),
    ({"table": "fusion_margin"}, "is no staging table"),
    ({"table": "stg_margin; DROP TABLE stg_margin"}, "is no staging table"),
    ({"table": ""}, "table"),
    ({"tables": ["stg_margin"]}, "tables"),
    ({"dry_run": "yes"}, "dry_run"),
]


def test_invalid_requests_name_the_parameter_and_ask_no_source(lite: FetchContext) -> None:
    for body, words in WRONG:
        answer = post(lite, body)
        assert answer.status_code == 422, body
        assert words in answer.json()["detail"]

    assert queued(lite) == 0
