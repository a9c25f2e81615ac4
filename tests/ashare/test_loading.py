"""Commands that ask the worker: what they queue, how they wait, what they report."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ashare import waiting
from ashare.output import Output
from ashare.work import backfill
from core.errors import InputError
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.admin.gaps import PlanRequest
from tests.ashare.conftest import DAYS, CommandLine
from tests.serving_api.market import NOW, put
from tests.serving_api.worker import fail, succeed, worker


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LOOK_S", 0.01)


def ended(status: str) -> Callable[[CommandQueue, Command], None]:
    """A worker that ends a backfill in a status; the command itself succeeds, as the real one does."""

    def work(queue: CommandQueue, command: Command) -> None:
        Backfills(queue._engine).settle(str(command.args["backfill_id"]), status, now=NOW)
        queue.finish(command, "success", result={"status": status})

    return work


@pytest.mark.parametrize(("status", "code"), [("partial", 3), ("failed", 1)])
def test_a_backfill_that_leaves_dates_out_says_so(cli: CommandLine, status: str, code: int) -> None:
    cli.has_worker()
    with worker(cli.url, ended(status)):
        assert cli("backfill", "kline_daily", "--from", DAYS[0], "--to", DAYS[2]) == code
    assert status in cli.out


PARTIAL = {"fusion_margin": "no source brought SZSE of 2026-08-21"}


def in_part(error: str | None, result: dict[str, Any]) -> Callable[[CommandQueue, Command], None]:
    """A worker that shows a result, and fails with `error`, where one is given."""

    def work(queue: CommandQueue, command: Command) -> None:
        queue.progress(command, result)
        if error is None:
            queue.finish(command, "success", result=result)
        else:
            queue.finish(command, "failed", error=error)

    return work


@pytest.mark.parametrize(
    ("asked", "error", "result"),
    [
        ((), None, {"newest": DAYS[2], "partial": PARTIAL, "failed": {}}),
        (("margin", "--date", DAYS[1]), "margin was loaded in part: no source …", {"partial": PARTIAL}),
        (("exchange_margin", "--date", DAYS[1]), None, {"status": "success", "partial": PARTIAL}),
    ],
)
def test_a_load_in_part_has_a_code_of_its_own_and_names_what_is_missing(
    cli: CommandLine, asked: tuple[str, ...], error: str | None, result: dict[str, Any]
) -> None:
    cli.has_worker()
    with worker(cli.url, in_part(error, result)):
        assert cli("load", *asked) == 3
    assert "loaded in part: fusion_margin: no source brought SZSE of 2026-08-21" in cli.out
    assert "status: partial" in cli.out


def test_some_codes_of_a_download_are_a_part(cli: CommandLine) -> None:
    cli.has_worker()
    counts = {"total": 1, "saved": 1, "gap_count": 0}
    part = {"status": "success", "codes": {"600519": counts}, "message": "tencent: no rows of 000001"}
    with worker(cli.url, succeed({"types": {"quote": part}, "fusion": None})):
        assert cli("load", "quote", "--codes", "600519,000001", "--date", DAYS[2]) == 3
    assert "no rows of 000001" in cli.out


def test_a_load_of_which_a_step_failed_as_a_whole_is_exit_code_1(cli: CommandLine) -> None:
    cli.has_worker()
    result = {"partial": PARTIAL, "failed": {"reports": "the portal is away"}}
    with worker(cli.url, in_part("reports failed: the portal is away", result)):
        assert cli("load") == 1
    assert "the portal is away" in cli.err


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        (("quote", "--codes", "600519"), {"types": {"quote": {"status": "failed", "message": "away"}}}),
        (("exchange_margin",), {"status": "failed", "message": "away"}),
    ],
)
def test_a_download_without_success_is_exit_code_1(
    cli: CommandLine, asked: tuple[str, ...], result: dict[str, Any]
) -> None:
    """The command succeeds: it reports what became of its parts."""
    cli.has_worker()
    with worker(cli.url, succeed(result)):
        assert cli("load", *asked, "--date", DAYS[2]) == 1
    assert "away" in cli.out


@pytest.mark.parametrize(
    "command",
    [
        ("load",),
        ("load", "kline_daily"),
        ("load", "quote", "--codes", "600519"),
        ("backfill", "kline_daily", "--from", DAYS[0], "--to", DAYS[2]),
    ],
)
def test_without_a_worker_nothing_is_queued(cli: CommandLine, command: tuple[str, ...]) -> None:
    assert "ashare run" in cli.fault(*command)["error"]
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_command") == [(0,)]
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_backfill") == [(0,)]


def test_codes_are_a_download_of_a_type(cli: CommandLine) -> None:
    cli.has_worker()
    counts = {"total": 1, "saved": 1, "gap_count": 0}
    part = {"status": "success", "codes": {"600519": counts, "000001": counts}}
    with worker(cli.url, succeed({"types": {"quote": part}, "fusion": None})) as done:
        found = cli.result("load", "quote", "--codes", "600519,000001", "--date", DAYS[2])

    assert [(one.command, one.args) for one in done] == [
        ("download", {"codes": ["600519", "000001"], "types": ["quote"], "date": DAYS[2]})
    ]
    assert (found["status"], found["saved"], set(found["details"])) == ("success", 2, {"600519", "000001"})


def test_a_dataset_is_a_run_of_its_assets(cli: CommandLine) -> None:
    cli.has_worker()
    with worker(cli.url, succeed({"run_id": "r1"})) as done:
        found = cli.result("load", "kline_daily", "--date", DAYS[1])

    args = {"job": "kline_daily", "partition_key": DAYS[1], "trigger": "backfill"}
    assert [(one.command, one.args) for one in done] == [("run_job", args)]
    assert (found["status"], found["run_id"]) == ("success", "r1")


def test_a_command_that_fails_is_exit_code_1_with_its_reason(cli: CommandLine) -> None:
    cli.has_worker()
    with worker(cli.url, fail("the upstream is away")):
        assert "the upstream is away" in cli.fault("load")["error"]


def test_steps_are_shown_once_while_a_load_runs(cli: CommandLine) -> None:
    cli.has_worker()
    seen = threading.Event()

    def work(queue: CommandQueue, command: Command) -> None:
        queue.progress(command, {"stage": "history", "step": 2, "steps": 6})
        seen.wait(0.3)
        queue.finish(command, "success", result={"newest": DAYS[2]})

    with worker(cli.url, work):
        assert cli("load") == 0
    assert cli.err.count("step 2 of 6: history") == 1
    assert f"newest: {DAYS[2]}" in cli.out


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("load", "kline_dayly"), "kline_daily"),
        (("load", "quotes", "--codes", "600519"), "quote"),
        (("load", "quote", "--codes", "60051"), "codes"),
        (("load", "kline_daily", "--date", "2026-08-22"), "date"),
        (("load", "--date", DAYS[0]), "NAME"),
    ],
)
def test_a_bad_request_names_what_is_wrong(cli: CommandLine, command: tuple[str, ...], named: str) -> None:
    cli.has_worker()
    fault: dict[str, Any] = cli.fault(*command)
    assert named in f"{fault['error']} {fault.get('parameter')}"
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_command") == [(0,)]


def of_codes(cli: CommandLine, *arguments: str) -> list[dict[str, Any]]:
    """The arguments of the runs that a load of codes asks for."""
    asked: list[dict[str, Any]] = []

    def work(queue: CommandQueue, command: Command) -> None:
        asked.append(command.args)
        queue.finish(command, "success", result={"run_id": "r"})

    cli.has_worker()
    with worker(cli.url, work):
        assert cli(*arguments) == 0, cli.err
    return asked


@pytest.mark.parametrize(
    ("arguments", "jobs"),
    [
        (("load", "kline_daily"), {"kline_daily": "600519"}),
        (("load", "--datasets", "kline_daily,margin"), {"kline_daily": "600519", "margin": "600519"}),
        (("load",), {"code_history": "600519", "index_daily": "sh000300"}),
        (("backfill", "kline_daily"), {"kline_daily": "600519"}),
    ],
)
def test_the_history_of_some_codes_is_a_run_for_each_dataset(
    cli: CommandLine, arguments: tuple[str, ...], jobs: dict[str, str]
) -> None:
    asked = of_codes(cli, *arguments, "--codes", "600519.SH,000300.SH", "--since", DAYS[0])
    assert {one["job"]: one["tags"]["app/codes"] for one in asked} == jobs
    for one in asked:
        # No batch of them counts as one of the market.
        assert one["tags"]["app/task_key"] == "code_history"
        assert (one["tags"]["app/since"], one["partition_key"]) == (DAYS[0], DAYS[2])


def test_a_backfill_of_several_datasets_goes_to_the_newest_date(cli: CommandLine) -> None:
    cli.has_worker()
    with worker(cli.url, ended("success")):
        assert cli("backfill", "--datasets", "kline_daily,margin", "--since", DAYS[0]) == 0, cli.err
    lines = [line for line in cli.out.splitlines() if line.startswith("backfill ")]
    assert [line.split(" of ")[1].split(":")[0] for line in lines] == ["kline_daily", "margin"]


def test_what_is_loaded_already_does_not_end_a_backfill_of_several(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(out: Output, body: PlanRequest, *, wait: bool) -> int:
        if body.dataset == "kline_daily":
            raise InputError("all", "every trade date is loaded already")
        return real(out, body, wait=wait)

    real = backfill._load
    monkeypatch.setattr(backfill, "_load", refused)
    cli.has_worker()
    with worker(cli.url, ended("success")):
        assert cli("backfill", "--datasets", "kline_daily,margin", "--since", DAYS[0]) == 0, cli.err
    assert "kline_daily: every trade date is loaded already" in cli.err
    assert "backfill " in cli.out


@pytest.mark.parametrize(
    ("arguments", "parameter", "says"),
    [
        (("load", "--codes", "600591", "--since", DAYS[0]), "codes", "nearest: 600519 贵州茅台"),
        (("load", "--datasets", "exright", "--codes", "600519"), "datasets", "leave --datasets out"),
        (("load", "kline_daily", "--since", DAYS[0]), "since", "ashare backfill"),
        (("load", "margin", "--datasets", "margin"), "datasets", "in place of NAME"),
        (
            ("backfill", "margin", "--datasets", "margin", "--from", DAYS[0]),
            "datasets",
            "in place of DATASET",
        ),
        (("backfill", "--from", DAYS[0]), "dataset", "name one"),
        (("backfill", "--datasets", "margin,no_such", "--from", DAYS[0]), "datasets", "no_such"),
        (("backfill", "--datasets", "margin,exright", "--from", DAYS[0]), "dataset", "exright"),
        (("load", "--datasets", "kline_dialy", "--codes", "600519"), "datasets", "nearest: kline_daily"),
        (
            ("backfill", "index_daily", "--codes", "600519", "--from", DAYS[0]),
            "codes",
            "none of them belongs",
        ),
    ],
)
def test_what_cannot_be_loaded_by_codes_names_its_parameter(
    cli: CommandLine, arguments: tuple[str, ...], parameter: str, says: str
) -> None:
    listed = {"name": "贵州茅台", "market": "SH", "sec_type": "stock", "list_status": "L"}
    put(cli.warehouse, cli.warehouse.table("fusion_stock_master"), [{"code": "600519", **listed}])
    cli.has_worker()
    fault = cli.fault(*arguments)
    assert fault["parameter"] == parameter
    assert says in fault["error"]
