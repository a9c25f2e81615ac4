"""The command queue over HTTP, on both engines."""

from typing import Any

import pytest

from resources.warehouse.ledger.commands import Command, CommandQueue
from tests.serving_api.admin.conftest import UI_PORT, FetchContext


@pytest.fixture
def queue(bare: FetchContext) -> CommandQueue:
    return CommandQueue(bare.warehouse.engine)


def ask(queue: CommandQueue, job: str = "fusion_kline_sync") -> Command:
    return queue.enqueue("run_job", {"job": job}, requested_by="admin")


def claimed(queue: CommandQueue) -> Command:
    found = queue.claim("worker")
    assert found is not None
    return found


def test_a_queued_command_is_shown(bare: FetchContext, queue: CommandQueue) -> None:
    command = ask(queue)

    found = bare.results(f"/datamgr/commands/{command.id}")

    assert found.pop("requested_at").endswith("+08:00")
    assert found == {
        "id": command.id,
        "command": "run_job",
        "args": {"job": "fusion_kline_sync"},
        "status": "queued",
        "requested_by": "admin",
        "started_at": None,
        "finished_at": None,
        "run_id": None,
        "run_url": None,
        "result": None,
        "message": None,
    }


def test_a_working_command_shows_its_progress_and_its_run(bare: FetchContext, queue: CommandQueue) -> None:
    ask(queue)
    command = claimed(queue)
    queue.progress(command, {"step": 2, "steps": 5}, run_id="run-1")

    found = bare.results(f"/datamgr/commands/{command.id}")

    assert (found["status"], found["result"]) == ("running", {"step": 2, "steps": 5})
    assert found["run_url"] == f"http://127.0.0.1:{UI_PORT}/runs/run-1"
    assert found["started_at"]


def test_a_failed_command_says_why(bare: FetchContext, queue: CommandQueue) -> None:
    ask(queue)
    command = claimed(queue)
    queue.finish(command, "failed", error="fusion_kline_sync failed: no bars")

    found = bare.results(f"/datamgr/commands/{command.id}")

    assert (found["status"], found["message"]) == ("failed", "fusion_kline_sync failed: no bars")
    assert found["finished_at"]


def test_the_list_is_newest_first_filtered_and_counted(bare: FetchContext, queue: CommandQueue) -> None:
    first, second, third = ask(queue), ask(queue), ask(queue)
    queue.finish(claimed(queue), "success", result={})

    everything = bare.get("/datamgr/commands", limit=2).json()
    queued = bare.results("/datamgr/commands", status="queued")

    assert [item["id"] for item in everything["results"]] == [third.id, second.id]
    assert everything["stats"]["total"] == 3
    assert [item["id"] for item in queued] == [third.id, second.id]
    assert bare.results("/datamgr/commands", status="success")[0]["id"] == first.id


def cancel(ctx: FetchContext, command_id: int) -> Any:
    return ctx.send("POST", f"/datamgr/commands/{command_id}/cancel")


def test_a_queued_command_is_canceled_at_once(bare: FetchContext, queue: CommandQueue) -> None:
    command = ask(queue)

    answer = cancel(bare, command.id)

    assert answer.json()["results"] == {"id": command.id, "status": "canceled"}
    assert queue.claim("worker") is None


def test_a_running_command_is_asked_to_stop(bare: FetchContext, queue: CommandQueue) -> None:
    ask(queue)
    command = claimed(queue)

    answer = cancel(bare, command.id)

    assert answer.json()["results"] == {"id": command.id, "status": "running"}
    assert queue.cancel_requested(command)


def test_a_finished_command_cannot_be_canceled(bare: FetchContext, queue: CommandQueue) -> None:
    command = ask(queue)
    cancel(bare, command.id)

    assert cancel(bare, command.id).status_code == 409


@pytest.mark.parametrize("command_id", ["999999", "0", "x", "99999999999999999999"])
def test_an_unknown_or_malformed_id(bare: FetchContext, command_id: str) -> None:
    expected = 404 if command_id == "999999" else 422

    assert bare.get(f"/datamgr/commands/{command_id}").status_code == expected
    assert bare.send("POST", f"/datamgr/commands/{command_id}/cancel").status_code == expected


@pytest.mark.parametrize("params", [{"status": "done"}, {"limit": 0}, {"limit": 501}])
def test_wrong_filters_are_422(bare: FetchContext, params: dict[str, Any]) -> None:
    assert bare.get("/datamgr/commands", **params).status_code == 422
