"""A worker whose runs have processes of their own: side by side, killed, canceled, terminated, given back."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from resources.simulated_market.faults import FaultPlan
from resources.warehouse.ledger.commands import Command
from schedules import run_tags
from schedules.commands.worker import Worker, open_pool
from schedules.runs.process_pool import RunPool
from schedules.services import Services
from tests.definitions.conftest import opened

ROOT = Path(__file__).parents[2]
DAY = "2026-08-21"
PATIENCE_S = 240.0
"""Only a run that hangs takes so long, also on a busy machine."""


@pytest.fixture(scope="module")
def slow_market() -> FaultPlan:
    return FaultPlan()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, slow_market: FaultPlan) -> Iterator[Worker]:
    """At work on an instance of its own."""
    folder = tmp_path_factory.mktemp("platform")
    home = folder / "dagster"
    home.mkdir()
    (home / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home))
        with opened(folder, patch, slow_market) as services:
            pool = open_pool(services)
            made = Worker(services, pool, instance=pool.instance, beat_s=0.5, end_runs=pool.close)
            thread = threading.Thread(target=made.run, daemon=True)
            thread.start()
            yield made
            made.stop()
            thread.join(20)
            pool.close()
            assert not thread.is_alive()


def ended(services: Services, asked: Command, patience_s: float = PATIENCE_S) -> Command:
    return until(
        lambda: services.commands.get(asked.id), lambda found: found.finished_at is not None, patience_s
    )


def until(
    look: Callable[[], Command], enough: Callable[[Command], bool], patience_s: float = PATIENCE_S
) -> Command:
    end = time.monotonic() + patience_s
    while not enough(found := look()):
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def started(services: Services, asked: Command, instance: dg.DagsterInstance) -> str:
    """Id of the run of a command, once Dagster has it at work."""

    def at_work(found: Command) -> bool:
        runs = found.result.get("runs") or []
        run = instance.get_run_by_id(runs[-1]) if runs else None
        return run is not None and run.status == dg.DagsterRunStatus.STARTED

    found = until(lambda: services.commands.get(asked.id), at_work)
    run_id: str = found.result["runs"][-1]
    return run_id


def ask(services: Services, job: str, **args: object) -> Command:
    return services.commands.enqueue(
        "run_job", {"job": job, "partition_key": DAY, **args}, requested_by="admin"
    )


def pool_of(worker: Worker) -> RunPool:
    pool = worker._runner
    assert isinstance(pool, RunPool)
    return pool


def instance_of(worker: Worker) -> dg.DagsterInstance:
    instance: dg.DagsterInstance = worker._instance
    return instance


def test_runs_of_both_lanes_side_by_side_look_like_any_other(worker: Worker) -> None:
    """Dagster's logging set-up at the start of a run is what two runs in one process die of."""
    services, instance = worker.services, instance_of(worker)
    asked = [ask(services, "security_list") for _ in range(4)]
    asked += [services.commands.enqueue("cleanup", {"days": 365}, requested_by="admin") for _ in range(4)]

    results = [ended(services, one) for one in asked]

    assert [result.status for result in results] == ["success"] * 8
    run = instance.get_run_by_id(results[0].result["run_id"])
    assert run is not None
    assert run.remote_job_origin is not None
    origin = run.remote_job_origin.repository_origin
    assert origin.get_label() == "__repository__@platform"
    # What the job's page and the timeline ask for.
    of_repository = dg.RunsFilter(job_name="security_list", tags={".dagster/repository": origin.get_label()})
    assert run.run_id in {found.run_id for found in instance.get_runs(of_repository)}
    assert run.tags[run_tags.TASK] == "security_list"
    assert run.tags[run_tags.COMMAND] == str(asked[0].id)
    assert run.tags[run_tags.TRADE_DATE] == DAY
    assert run.tags[run_tags.TRIGGER] == "manual"


@pytest.fixture
def silent_upstream(slow_market: FaultPlan) -> Iterator[None]:
    """Whoever asks waits: a run is at work for as long as a test needs it."""
    slow_market.replace([{"upstream": "*", "call": "*", "kind": "timeout", "args": {}, "count": 0}])
    yield
    slow_market.clear()


@pytest.mark.usefixtures("silent_upstream")
def test_a_run_whose_process_is_killed_has_failed_and_the_next_one_runs(
    worker: Worker, slow_market: FaultPlan
) -> None:
    services, instance = worker.services, instance_of(worker)
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)
    for pid in pool_of(worker).busy:
        os.kill(pid, signal.SIGKILL)

    found = ended(services, asked)
    assert found.status == "failed"
    assert "its process died" in (found.error or "")
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.FAILURE
    slow_market.clear()
    assert ended(services, ask(services, "security_list")).status == "success"


@pytest.mark.usefixtures("silent_upstream")
def test_terminate_ends_a_run_of_the_worker_as_canceled(worker: Worker) -> None:
    services, instance = worker.services, instance_of(worker)
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)

    assert instance.run_coordinator.cancel_run(run_id)

    assert ended(services, asked).status == "canceled"
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.CANCELED


@pytest.mark.usefixtures("silent_upstream")
def test_a_canceled_command_ends_its_run(worker: Worker) -> None:
    services, instance = worker.services, instance_of(worker)
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)
    services.commands.cancel(asked.id)

    assert ended(services, asked).status == "canceled"
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.CANCELED


def test_an_unknown_job_is_named(worker: Worker) -> None:
    found = ended(worker.services, ask(worker.services, "no_such_job"))
    assert (found.status, found.result["error_kind"]) == ("failed", "NotFound")
