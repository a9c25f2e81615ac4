"""A worker whose lanes hang is silent, although its heart could beat; one that waits for a run is not."""

import os
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.ledger.heartbeats import Heartbeats
from schedules.commands import command_context
from schedules.commands.lane_heartbeats import Pulses, alive
from schedules.commands.worker import Worker
from schedules.runs.outcome import RunFate
from schedules.services import Services
from schedules.supervisor import child_processes as kept
from schedules.supervisor import liveness, process_plan
from schedules.supervisor.child_processes import ChildProcesses, ChildSpec
from tests.schedules.runs import EndedRuns
from tests.schedules.test_supervisor import until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def child_processes(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChildProcesses]:
    monkeypatch.setattr(kept, "STACKS_S", 0.2)
    monkeypatch.setattr(kept, "END_S", 0.2)
    monkeypatch.setattr(liveness, "FRESH_S", 1.0)
    made = ChildProcesses(
        tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)}, said.append, stop_s=1.0, backoff_s=(0.01,)
    )
    yield made
    made.stop()


def test_the_supervisor_ends_a_worker_of_which_one_lane_hangs_in_a_lock(
    child_processes: ChildProcesses, said: list[str], engine: Engine, tmp_path: Path
) -> None:
    url = engine.url.render_as_string(hide_password=False)
    sign = liveness.heartbeat_sign(url, process_plan.WORKER)
    beats = Heartbeats(engine)
    spec = ChildSpec(
        "worker",
        process_plan.traced("tests.schedules.lane_child", url, str(tmp_path)),
        ready=lambda: bool(beats.all(process_plan.WORKER)),
        patience_s=30,
        sign=sign,
        silence_s=1.0,
        traced=True,
    )
    child_processes.start(spec)
    child, first = child_processes.children["worker"], child_processes.pids()["worker"]
    child_processes.ask()
    child_processes.watch()
    assert said == []

    asked = CommandQueue(engine).enqueue("hang", requested_by="t", max_attempts=1)

    def again() -> bool:
        child_processes.ask()
        child_processes.watch()
        return child.restarts == 1

    until(again)

    assert said[0].startswith(f"worker (process {first}) has given no sign of life for ")
    assert "hang_in_a_lock" in (tmp_path / "worker.stacks").read_text()
    # The next worker finds the dead one, and what it worked on.
    until(lambda: CommandQueue(engine).get(asked.id).finished)


class Endless(EndedRuns):
    """Runs that go on until they are terminated."""

    def run(self, *_: object) -> RunFate:
        return RunFate("open")


def test_a_lane_that_waits_for_a_run_is_alive(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_context, "LOOK_S", 0.05)
    limit_s, runs = 0.4, Endless()
    worker = Worker(services, runs, beat_s=0.05, lane_limit_s=limit_s)
    at_work = threading.Thread(target=worker.run, daemon=True)
    at_work.start()
    asked = services.commands.enqueue("run_job", {"job": "a_job"}, requested_by="t")
    until(lambda: bool(runs.fates))

    def last_beat() -> datetime:
        return services.heartbeats.all("worker")[0].beat_at

    busy_since = last_beat()
    until(lambda: (last_beat() - busy_since).total_seconds() > 3 * limit_s)

    worker.stop()
    at_work.join(10)
    assert not at_work.is_alive()
    # A worker that goes down has its run ended, and gives its command back.
    assert runs.terminated == list(runs.fates)
    assert services.commands.get(asked.id).status == "queued"


def test_a_lane_that_died_of_an_error_is_silent_and_one_that_ended_is_not() -> None:
    now = 0.0
    pulses = Pulses(10.0, lambda: now)
    for name in ("died", "ended", "works"):
        pulses.watch(name)
    pulses.leave("ended")
    now = 11.0
    pulses.join("works")
    alive()

    assert pulses.silent() == {"died": 11.0}
