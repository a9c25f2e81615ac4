"""Runs of commands and backfills, by Dagster: side by side, killed, canceled, terminated."""

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import dagster as dg
import pytest

from resources.orchestrator import RANGE_END, RANGE_START, Orchestrator
from resources.warehouse.ledger.backfills import Backfill, Backfills
from resources.warehouse.ledger.commands import Command
from schedules import run_tags
from schedules.commands.worker import Worker
from schedules.runs.launching import LaunchedRuns
from schedules.services import Services
from schedules.supervisor.child_processes import ChildProcesses
from schedules.supervisor.process_plan import CODE
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import opened
from tests.schedules.dagster_side import dagster_side

ROOT = Path(__file__).parents[2]
DAY = "2026-08-21"
NOW = datetime(2026, 8, 21, 15, 45)
STARTED = re.compile(r"Started process for run \(pid: (\d+)\)")
PATIENCE_S = 240.0
"""Only a run that hangs takes so long, also on a busy machine."""


@pytest.fixture(scope="module")
def slow_market() -> FaultPlan:
    return FaultPlan()


@dataclass
class Deployment:
    """A worker at work, and Dagster's processes beside it."""

    worker: Worker
    services: Services
    instance: dg.DagsterInstance
    children: ChildProcesses


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, slow_market: FaultPlan) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("platform")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(folder / "dagster"))
        patch.setenv("PYTHONPATH", str(ROOT))
        with (
            opened(folder, patch, slow_market) as services,
            dagster_side(services.settings, os.environ) as (ports, children),
            dg.DagsterInstance.get() as instance,
        ):
            orchestrator = Orchestrator(ports.dagster)
            runs = LaunchedRuns(orchestrator, instance)
            # With its watcher: a code server that was away is loaded again.
            made = Worker(services, runs, instance=instance, beat_s=0.5, orchestrator=orchestrator)
            thread = threading.Thread(target=made.run, daemon=True)
            thread.start()
            yield Deployment(made, services, instance, children)
            made.stop()
            thread.join(20)
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


def process_of(instance: dg.DagsterInstance, run_id: str) -> int:
    """The process of a run, as Dagster wrote it down."""
    kinds = {dg.DagsterEventType.ENGINE_EVENT}
    texts = [
        str(record.event_log_entry.dagster_event and record.event_log_entry.dagster_event.message)
        for record in instance.get_records_for_run(run_id, of_type=kinds).records
    ]
    (found,) = [match for text in texts if (match := STARTED.search(text))]
    return int(found[1])


def test_runs_of_both_lanes_side_by_side_look_like_any_other(deployment: Deployment) -> None:
    services, instance = deployment.services, deployment.instance
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
    # The rest is Dagster's, or hidden.
    shown = {key for key in run.tags if not key.startswith(("dagster/", ".dagster/"))}
    assert shown == {run_tags.TASK, run_tags.TRADE_DATE, run_tags.TRIGGER}


@pytest.fixture
def silent_upstream(slow_market: FaultPlan) -> Iterator[None]:
    """Whoever asks waits: a run is at work for as long as a test needs it."""
    slow_market.replace([{"upstream": "*", "call": "*", "kind": "timeout", "args": {}, "count": 0}])
    yield
    slow_market.clear()


@pytest.mark.usefixtures("silent_upstream")
def test_a_run_whose_process_is_killed_has_failed_and_the_next_one_runs(
    deployment: Deployment, slow_market: FaultPlan
) -> None:
    services, instance = deployment.services, deployment.instance
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)
    os.kill(process_of(instance, run_id), signal.SIGKILL)

    found = ended(services, asked)
    assert found.status == "failed"
    assert "its process died" in (found.error or "")
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.FAILURE
    slow_market.clear()
    assert ended(services, ask(services, "security_list")).status == "success"


@pytest.mark.usefixtures("silent_upstream")
def test_terminate_ends_a_run_as_canceled(deployment: Deployment) -> None:
    services, instance = deployment.services, deployment.instance
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)

    deployment.worker._runner.terminate(run_id)  # what the button of the UI asks for

    assert ended(services, asked).status == "canceled"
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.CANCELED


@pytest.mark.usefixtures("silent_upstream")
def test_a_canceled_command_ends_its_run(deployment: Deployment) -> None:
    services, instance = deployment.services, deployment.instance
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)
    services.commands.cancel(asked.id)

    assert ended(services, asked).status == "canceled"
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.CANCELED


@pytest.mark.usefixtures("silent_upstream")
def test_runs_die_with_the_code_server_and_the_next_one_says_so(
    deployment: Deployment, slow_market: FaultPlan
) -> None:
    services, instance, children = deployment.services, deployment.instance, deployment.children
    asked = ask(services, "security_list")
    run_id = started(services, asked, instance)
    os.kill(children.pids()[CODE], signal.SIGKILL)
    end = time.monotonic() + PATIENCE_S
    while children.children[CODE].restarts == 0 and time.monotonic() < end:
        children.watch()
        time.sleep(0.1)

    found = ended(services, asked)
    assert found.status == "failed"
    assert "its process died" in (found.error or "")
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status == dg.DagsterRunStatus.FAILURE
    slow_market.clear()
    # Asked for while the code server still loads: it is waited for.
    found = ended(services, ask(services, "security_list"))
    assert found.status == "success", found.error


def test_an_unknown_job_is_named(deployment: Deployment) -> None:
    found = ended(deployment.services, ask(deployment.services, "no_such_job"))
    assert (found.status, found.result["error_kind"]) == ("failed", "NotFound")


APART = ("2026-08-13", "2026-08-17", "2026-08-19")
"""Three runs: a range has every trade date between its ends."""


def backfill(services: Services, *days: str) -> str:
    """As the API asks for one: a row, then its command."""
    made = Backfills(services.engine).create("margin", days[0], days[-1], days, by="admin", now=NOW)
    args = {"backfill_id": made.id, "table": "fusion_margin"}
    services.commands.enqueue("backfill", args, requested_by="admin")
    return made.id


def row(services: Services, backfill_id: str, enough: Callable[[Backfill], bool]) -> Backfill:
    """The row of a backfill, as soon as it is as a test waits for."""
    end = time.monotonic() + PATIENCE_S
    while not enough(found := Backfills(services.engine).get(backfill_id)):
        assert time.monotonic() < end, found
        time.sleep(0.1)
    return found


def runs_of(instance: dg.DagsterInstance, found: Backfill) -> list[dg.DagsterRun]:
    return list(instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": str(found.dagster_id)})))


def test_a_backfill_is_dagsters_and_its_runs_are_ranges_of_neighbours(deployment: Deployment) -> None:
    services, instance = deployment.services, deployment.instance
    days = ("2026-08-17", "2026-08-18", "2026-08-20")
    found = row(services, backfill(services, *days), lambda one: one.ended)

    assert (found.status, found.done, found.failures) == ("success", 3, {})
    state = instance.get_backfill(str(found.dagster_id))
    assert state is not None
    assert state.status.value == "COMPLETED_SUCCESS"
    runs = runs_of(instance, found)
    assert {run.run_id for run in runs} == set(found.run_ids)
    assert {(run.tags[RANGE_START], run.tags[RANGE_END]) for run in runs} == {days[:2], days[2:] * 2}
    with services.engine.connect() as connection:
        loaded = connection.exec_driver_sql("SELECT DISTINCT date FROM fusion_margin ORDER BY 1").all()
        triggers = connection.exec_driver_sql(
            "SELECT DISTINCT trigger_type FROM sys_batch WHERE table_name='fusion_margin'"
        ).all()
    assert {str(day) for (day,) in loaded} >= set(days)
    assert [tuple(one) for one in triggers] == [("backfill",)]
    # A worker that lost the answer asks for the same one.
    runner = deployment.worker._runner
    assert runner.launch_backfill("margin", days, str(state.title), {}) == found.dagster_id


@pytest.mark.usefixtures("silent_upstream")
def test_a_canceled_backfill_ends_its_runs(deployment: Deployment) -> None:
    services, instance = deployment.services, deployment.instance
    backfill_id = backfill(services, *APART)
    row(services, backfill_id, lambda one: bool(one.run_ids))
    Backfills(services.engine).request_cancel(backfill_id, now=NOW)

    found = row(services, backfill_id, lambda one: one.ended)

    assert (found.status, found.done) == ("canceled", 0)
    assert {run.status for run in runs_of(instance, found)} == {dg.DagsterRunStatus.CANCELED}


@pytest.mark.usefixtures("silent_upstream")
def test_a_backfill_survives_its_code_server_with_runs_at_work_and_in_the_queue(
    deployment: Deployment, slow_market: FaultPlan
) -> None:
    services, instance, children = deployment.services, deployment.instance, deployment.children
    backfill_id = backfill(services, *APART)
    found = row(services, backfill_id, lambda one: len(one.run_ids) == 3)

    def statuses() -> list[str]:
        return sorted(run.status.value for run in runs_of(instance, found))

    end = time.monotonic() + PATIENCE_S
    while statuses() != ["QUEUED", "QUEUED", "STARTED"]:  # one at a time: they ask the same sources
        assert time.monotonic() < end, statuses()
        time.sleep(0.1)
    killed = children.children[CODE].restarts
    os.kill(children.pids()[CODE], signal.SIGKILL)
    slow_market.clear()
    while children.children[CODE].restarts == killed and time.monotonic() < end:
        children.watch()
        time.sleep(0.1)

    found = row(services, backfill_id, lambda one: one.ended)

    assert (found.status, found.done, found.failures) == ("success", 3, {})
    # The run that died with its code server was tried again; those in the queue waited.
    assert statuses() == ["FAILURE", "SUCCESS", "SUCCESS", "SUCCESS"]
