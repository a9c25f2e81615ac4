"""What a run holds open while it is at work, and that nothing of it stays."""

import threading

import pytest

from resources.warehouse.ledger.heartbeats import RUN
from resources.warehouse.writer import Writer
from schedules.commands.worker import Worker
from schedules.runs.execution import DagsterRunner
from schedules.services import Services

DAY = "2026-08-21"


@pytest.fixture
def beats_during(services: Services, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Ids of the runs that beat, as of each write."""
    seen: list[list[str]] = []
    genuine = Writer.write_all

    def write_all(self: Writer, *given: object, **named: object) -> object:
        seen.append([node.node_id for node in services.heartbeats.all(RUN)])
        return genuine(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Writer, "write_all", write_all)
    return seen


def test_a_run_with_a_process_of_its_own_beats_until_its_end(
    services: Services, runner: DagsterRunner, beats_during: list[list[str]]
) -> None:
    """Executed as Dagster's run process does it: nobody listens for a wish to stop."""
    done = runner.run("security_list", run_id="0e7dd7b1-6f1c-4f0e-8a3a-2f4f1a2f4b55", partition_key=DAY)

    assert done.success
    assert beats_during
    assert all(ids == [done.run_id] for ids in beats_during)
    assert services.heartbeats.all(RUN) == []


def test_a_run_inside_the_worker_leaves_nothing_open_and_needs_no_heartbeat_of_its_own(
    services: Services, runner: DagsterRunner, beats_during: list[list[str]]
) -> None:
    worker = Worker(services, runner)
    before = set(threading.enumerate())
    for _ in range(2):
        args = {"job": "security_list", "partition_key": DAY}
        asked = services.commands.enqueue("run_job", args, requested_by="admin")
        worker.work_once()
        assert services.commands.get(asked.id).status == "success"

    assert beats_during
    assert not any(beats_during)
    # A pool of the terminal protocol keeps its connections alive by a thread until it is closed.
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert "tdx-heartbeat" not in left
