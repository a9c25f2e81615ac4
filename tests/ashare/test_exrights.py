"""`ashare exrights`: the open items, and the reason that closes one."""

from typing import Any

from resources.warehouse.ledger.commands import Command, CommandQueue
from tests.ashare.conftest import DAYS, CommandLine
from tests.serving_api.market import put
from tests.serving_api.worker import worker

CODE, DAY = "600519", DAYS[1]
REASON = ("exrights", "close", CODE, DAY, "--reason", "a quote of another share", "--quote", "ignored")


def with_item(cli: CommandLine, **other: Any) -> None:
    item = {
        "code": CODE, "date": DAY, "market": "SH", "before_date": DAYS[0], "close_before": 11.0,
        "quoted": 8.8, "expected": 11.0, "factor": 1.25, "status": "open", "opened_on": DAY, **other,
    }  # fmt: skip
    put(cli.warehouse, cli.warehouse.table("ref_exright_item"), [item])


def test_items_are_listed_with_their_evidence(cli: CommandLine) -> None:
    assert cli("exrights", "list") == 0
    assert "no item is open" in cli.out
    with_item(cli)

    (item,) = cli.result("exrights", "list")

    assert [item[name] for name in ("code", "date", "quoted", "close_before", "factor", "days_open")] == [
        CODE, DAY, 8.8, 11.0, 1.25, 2,
    ]  # fmt: skip
    assert cli.result("exrights", "list", "--closed") == []


def test_a_reason_is_carried_out_by_the_worker(cli: CommandLine) -> None:
    with_item(cli)
    cli.has_worker()

    def close(queue: CommandQueue, command: Command) -> None:
        closed = {"status": "closed", "closed_by": "reason", "reason": command.args["reason"]}
        with_item(cli, closed_on=DAYS[2], **closed)
        queue.finish(command, "success", result={"status": "closed"})

    with worker(cli.url, close) as done:
        answer = cli.result(*REASON)

    assert (answer["status"], answer["item"]["status"]) == ("success", "closed")
    (command,) = done
    assert command.args == {
        "code": CODE,
        "date": DAY,
        "reason": "a quote of another share",
        "counts": False,
    }


def test_what_has_no_open_item_is_refused(cli: CommandLine) -> None:
    with_item(cli)
    assert cli(*REASON) == 1
    assert "no worker" in cli.err
    cli.has_worker()

    fault = cli.fault("exrights", "close", CODE, DAYS[2], "--reason", "x", "--quote", "counts")
    assert (fault["parameter"], DAY in fault["error"]) == ("date", True)
    assert (
        cli.fault("exrights", "close", "000001", DAY, "--reason", "x", "--quote", "counts")["parameter"]
        == "code"
    )
    assert (
        cli.fault("exrights", "close", CODE, DAY, "--reason", " ", "--quote", "counts")["parameter"]
        == "reason"
    )
    assert cli.fault("exrights", "reopen", CODE, DAY)["parameter"] == "code"
    assert cli("exrights", "close", CODE, DAY, "--reason", "x") == 2  # nothing is assumed of the quote
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_command") == [(0,)]
