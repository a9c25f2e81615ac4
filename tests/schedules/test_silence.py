"""A child process that gives no sign of life is ended with its stacks, and started again; one of which nobody
can tell is left alone."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from core.clock import SystemClock, stamp
from core.errors import Unavailable
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.heartbeats import Heartbeats, Node
from schedules.supervisor import child_processes as kept
from schedules.supervisor import process_plan
from schedules.supervisor.child_processes import ChildProcesses, ChildSpec
from schedules.supervisor.liveness import code_server_answers, daemon_sign, heartbeat_sign, server_sign
from tests.schedules.test_start_checks import settings_of
from tests.schedules.test_supervisor import alive, until

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
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = ChildProcesses(tmp_path, env, said.append, stop_s=1.0, backoff_s=(0.01, 0.02))
    yield made
    made.stop()


def growing(path: Path) -> Callable[[int], bool]:
    """Whether a file has grown since the last question."""
    seen = 0

    def sign(_pid: int) -> bool:
        nonlocal seen
        before, seen = seen, path.stat().st_size if path.exists() else 0
        return seen > before

    return sign


@pytest.mark.parametrize("how", ["stopped", "lock", "spin"])
def test_a_silent_child_leaves_its_stacks_is_ended_and_starts_again(
    child_processes: ChildProcesses, tmp_path: Path, said: list[str], how: str
) -> None:
    beats, fall = tmp_path / "beats", tmp_path / "fall"
    command = process_plan.traced("tests.schedules.silent_child", str(beats), str(fall), how)
    spec = ChildSpec(
        "worker", command, ready=beats.exists, patience_s=10, sign=growing(beats), silence_s=0.3, traced=True
    )
    child_processes.start(spec)
    child, first = child_processes.children["worker"], child_processes.pids()["worker"]
    child_processes.ask()
    child_processes.watch()
    assert said == []

    if how == "stopped":
        os.kill(first, signal.SIGSTOP)
    else:
        fall.touch()
        until(lambda: not fall.exists())

    def again() -> bool:
        child_processes.ask()
        child_processes.watch()
        return child.restarts == 1 and not alive(first)

    until(again)

    assert said[0].startswith(f"worker (process {first}) has given no sign of life for ")
    assert said[0].endswith(f"ending it; its stacks are in {tmp_path / 'worker.stacks'}")
    assert said[1].startswith("worker ended with -15, restarting in 0.01 s")
    assert said[2] == f"worker restarted as process {child_processes.pids()['worker']}"
    stacks = (tmp_path / "worker.stacks").read_text()
    where = {"stopped": "silent_child.py", "lock": "hang_in_a_lock", "spin": "in spin"}[how]
    assert f"--- process {first}, " in stacks
    assert where in stacks


def test_a_child_that_ignores_term_as_well_is_killed(
    child_processes: ChildProcesses, said: list[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    code = (
        "import pathlib, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"pathlib.Path({str(mark)!r}).touch()\ntime.sleep(60)"
    )
    command = (sys.executable, "-S", "-c", code)
    child_processes.start(
        ChildSpec("deaf", command, ready=mark.exists, patience_s=10, sign=lambda _: False, silence_s=0)
    )
    child = child_processes.children["deaf"]
    child.heard = 0.0

    def ended() -> bool:
        child_processes.watch()
        return child.last_exit is not None

    until(ended)
    assert child.last_exit == -signal.SIGKILL


def test_who_starts_or_cannot_be_told_about_is_left_alone(
    child_processes: ChildProcesses, said: list[str]
) -> None:
    asleep = (sys.executable, "-S", "-c", "import time; time.sleep(60)")
    child_processes.start(ChildSpec("starting", asleep, sign=lambda _: False, silence_s=0.0, patience_s=60))
    child_processes.start(ChildSpec("unknown", asleep, sign=lambda _: None, silence_s=0.0))
    child_processes.children["unknown"].heard = 0.0
    child_processes.ask()
    child_processes.children["unknown"].heard += 1  # the clock goes on between two looks

    child_processes.watch()

    assert said == []


def spinning(seconds: float) -> tuple[str, ...]:
    code = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    return (sys.executable, "-S", "-c", code)


def test_a_start_waits_for_a_child_that_works_and_not_for_one_that_does_nothing(
    child_processes: ChildProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "LOOK_S", 0.2)
    mark = tmp_path / "mark"
    *python, code = spinning(3)
    works = (*python, f"{code}\nopen({str(mark)!r}, 'w')\ntime.sleep(60)")
    asleep = (*python, "import time; time.sleep(60)")

    child_processes.start(ChildSpec("slow", works, ready=mark.exists, patience_s=1))
    with pytest.raises(kept.ChildFailed, match=r"^idle has done nothing for 1 s, see "):
        child_processes.start(ChildSpec("idle", asleep, ready=lambda: False, patience_s=1))


def test_waiting_for_a_core_is_no_silence(child_processes: ChildProcesses) -> None:
    rivals = [subprocess.Popen(spinning(30), start_new_session=True) for _ in range(4)]
    try:
        child_processes.start(ChildSpec("starved", spinning(30), sign=lambda _: False))
        child = child_processes.children["starved"]
        for pid in (*(rival.pid for rival in rivals), child.pid):
            os.sched_setaffinity(pid, {0})
        child_processes.ask()
        child.heard = child.asked
        until(lambda: time.monotonic() - child.asked > 3)
        began = child.asked

        child_processes.ask()

        assert child.silent_s(child.asked) < 0.6 * (child.asked - began)
    finally:
        for rival in rivals:
            rival.kill()


def test_a_child_that_keeps_ending_is_named_and_shown(
    child_processes: ChildProcesses, said: list[str]
) -> None:
    child_processes.start(ChildSpec("dagster_daemon", (sys.executable, "-S", "-c", "raise SystemExit(7)")))

    def looping() -> bool:
        child_processes.watch()
        return child_processes.processes()["dagster_daemon"]["in_loop"]

    until(looping)

    assert "warning: dagster_daemon keeps ending, 3 times within the last 10 minutes; see " in "\n".join(said)
    facts = child_processes.processes()["dagster_daemon"]
    assert (facts["state"], facts["pid"], facts["last_exit"], facts["restarts"]) == ("restarting", None, 7, 2)


def test_a_worker_is_heard_through_its_row_and_not_blamed_for_a_locked_database(engine: Engine) -> None:
    url = engine.url.render_as_string(hide_password=False)
    sign = heartbeat_sign(url, process_plan.WORKER)
    beats = Heartbeats(engine)
    now = SystemClock().now()
    assert sign(4711) is False

    beats.beat(Node("here:4711", process_plan.WORKER, "here", 4711, now, now))
    assert sign(4711) is True
    assert sign(4712) is False

    with transaction(engine) as connection:
        connection.exec_driver_sql(
            f"UPDATE sys_heartbeat SET beat_at='{stamp(now - timedelta(minutes=2))}' WHERE role='worker'"
        )
    assert sign(4711) is False
    with engine.connect() as holder:
        if engine.dialect.name == "sqlite":
            holder.exec_driver_sql("SELECT 1")  # opens BEGIN IMMEDIATE: the writer's lock
        else:
            holder.exec_driver_sql("LOCK TABLES sys_heartbeat READ")
        assert sign(4711) is None
        if engine.dialect.name != "sqlite":
            holder.exec_driver_sql("UNLOCK TABLES")


def test_every_part_of_the_daemon_has_to_beat() -> None:
    class Webserver:
        beats: dict[str, float | None] = {"SCHEDULER": 950.0, "SENSOR": 990.0}  # noqa: RUF012

        def daemon_beats(self) -> dict[str, float | None]:
            if not self.beats:
                raise Unavailable("away")
            return self.beats

    server = Webserver()
    sign = daemon_sign(server, now=lambda: 1000.0)  # type: ignore[arg-type]
    assert sign(1) is True
    server.beats = {"SCHEDULER": 700.0, "SENSOR": 990.0}
    assert sign(1) is False
    server.beats = {"SCHEDULER": None}
    assert sign(1) is False
    server.beats = {}
    assert sign(1) is None


def test_every_process_of_the_platform_has_a_sign_and_writes_its_stacks(tmp_path: Path) -> None:
    settings, ports = settings_of(tmp_path), process_plan.Ports(1, 1, 1, 1, (1,))
    specs = [
        process_plan.simulator(settings, ports),
        process_plan.code_server(ports),
        process_plan.daemon(settings, tmp_path, ports),
        process_plan.ui(settings, tmp_path, ports),
        process_plan.worker(settings, ports),
        process_plan.api(settings, ports, {}),
    ]
    for spec in specs:
        assert spec.traced, spec.name
        assert spec.command[1:3] == ("-m", "schedules.supervisor.stack_dumps"), spec.name
        assert spec.sign is not None, spec.name
    assert server_sign(lambda: False)(1) is False
    assert code_server_answers(1) is False


def test_a_traced_module_runs_as_python_m_would() -> None:
    command = process_plan.traced("json.tool", "--compact")
    done = subprocess.run(command, input="{ }", capture_output=True, text=True, check=False, cwd=ROOT)

    assert (done.stdout, done.returncode, done.stderr) == ("{}\n", 0, "")
