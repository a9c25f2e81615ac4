"""Starting, watching and stopping processes: small dummies instead of the platform."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import DiskFull, StorageError
from resources.log_files import RotatingLog
from resources.run_lock import RunLock, StartRefused
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.write_probe import WriteProbe
from schedules.supervisor import app, checks, progress
from schedules.supervisor.child_processes import (
    BACKOFF_S,
    ChildFailed,
    ChildProcesses,
    ChildSpec,
    Interrupted,
)
from tests.schedules.test_start_checks import NOW, settings_of


def dummy(name: str, code: str, **more: object) -> ChildSpec:
    return ChildSpec(name, (sys.executable, "-S", "-c", f"import os, signal, sys, time\n{code}"), **more)  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def child_processes(tmp_path: Path, said: list[str]) -> Iterator[ChildProcesses]:
    made = ChildProcesses(tmp_path, dict(os.environ), said.append, stop_s=1.0, backoff_s=(0.01, 0.02))
    yield made
    made.stop()


# -- processes --------------------------------------------------------------------------------------


def test_a_child_is_ready_when_it_says_so_and_ends_with_term(
    child_processes: ChildProcesses, tmp_path: Path, said: list[str]
) -> None:
    mark = tmp_path / "ready"
    child_processes.start(
        dummy("child", f"open({str(mark)!r}, 'w').close(); print('hello', flush=True); time.sleep(60)",
              ready=mark.exists)
    )  # fmt: skip
    pid = child_processes.pids()["child"]
    written = tmp_path / "child.log"
    until(lambda: written.exists() and "hello" in written.read_text())

    assert child_processes.stop() == []
    assert not alive(pid)
    assert said == []


def test_a_child_that_ignores_term_is_killed_with_its_children(
    child_processes: ChildProcesses, tmp_path: Path
) -> None:
    mark = tmp_path / "grandchild"
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pid = os.fork()\n"
        f"if pid: open({str(mark) + '.part'!r}, 'w').write(str(pid)); "
        f"os.replace({str(mark) + '.part'!r}, {str(mark)!r})\n"
        "time.sleep(60)"
    )
    child_processes.start(dummy("stubborn", code, ready=mark.exists))
    pid, grandchild = child_processes.pids()["stubborn"], int(mark.read_text())

    assert child_processes.stop() == ["stubborn"]
    until(lambda: not alive(pid) and not alive(grandchild))


def test_ignored_signals_of_the_shell_do_not_reach_a_child(
    child_processes: ChildProcesses, tmp_path: Path
) -> None:
    mark = tmp_path / "ready"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = (
            "ok = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN\n"
            f"open({str(mark)!r}, 'w').write(str(ok))\ntime.sleep(60)"
        )
        child_processes.start(dummy("child", code, ready=lambda: mark.exists() and bool(mark.read_text())))
    finally:
        signal.signal(signal.SIGINT, before)

    assert mark.read_text() == "True"


def test_a_child_that_dies_at_its_start_is_named_with_its_last_words(child_processes: ChildProcesses) -> None:
    with pytest.raises(ChildFailed, match="broken ended with 3 at its start: no such table"):
        child_processes.start(
            dummy("broken", "time.sleep(.1); sys.exit(print('no such table') or 3)", ready=lambda: False)
        )


def test_a_start_can_be_interrupted(child_processes: ChildProcesses) -> None:
    threading.Timer(0.2, child_processes.stopping.set).start()

    with pytest.raises(Interrupted):
        child_processes.start(dummy("slow", "time.sleep(60)", ready=lambda: False))


def test_a_child_that_dies_is_restarted_and_it_is_said(
    child_processes: ChildProcesses, tmp_path: Path, said: list[str]
) -> None:
    child_processes.start(
        dummy("worker", f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); time.sleep(60)")
    )
    until((tmp_path / "starts").exists)
    first = child_processes.pids()["worker"]
    os.kill(first, signal.SIGKILL)
    until(lambda: "worker" not in child_processes.pids())

    child_processes.watch()
    assert said[-1].startswith("worker ended with -9, restarting in 0.01 s")
    time.sleep(0.02)
    child_processes.watch()

    assert child_processes.pids()["worker"] != first
    assert said[-1] == f"worker restarted as process {child_processes.pids()['worker']}"
    until(lambda: (tmp_path / "starts").read_text() == "xx")


@pytest.mark.skipif(sys.platform != "linux", reason="data not there: parent-death signals are Linux's")
def test_children_do_not_outlive_a_killed_supervisor(tmp_path: Path) -> None:
    code = (
        "import sys, time, os; from pathlib import Path\n"
        "from schedules.supervisor.child_processes import ChildProcesses, ChildSpec\n"
        f"family = ChildProcesses(Path({str(tmp_path)!r}), dict(os.environ), print)\n"
        "family.start(ChildSpec('child', (sys.executable, '-c', 'import time; time.sleep(60)')))\n"
        "time.sleep(0.3); print(family.pids()['child'], flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        child = int(process.stdout.readline())
        assert alive(child)
        process.kill()
        process.wait()
    until(lambda: not alive(child))


def test_logs_are_rotated_and_three_are_kept(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path / "a.log", max_bytes=100)
    for number in range(60):
        log.write(f"line {number:03d}\n".encode())

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log", "a.log.1", "a.log.2", "a.log.3"]
    assert all(path.stat().st_size <= 100 for path in tmp_path.iterdir())
    assert log.tail() == "line 058 | line 059"
    log.close()
    log.write(b"late\n")


# -- the whole start --------------------------------------------------------------------------------


def test_a_refused_start_is_one_line_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = RunLock(tmp_path)
    held.take(NOW)

    assert app.run({"DATA_DIR": str(tmp_path), "ENV_FILE": "none"}) == 1
    held.release()
    written = capsys.readouterr().err
    assert written.startswith(f"DATA_DIR: {tmp_path} is in use by process {os.getpid()}")
    assert written.count("\n") == 1
    assert app.run({"DATA_DIR": str(tmp_path), "ENV_FILE": "none", "API_PORT": "x"}) == 1
    assert capsys.readouterr().err == "API_PORT: 'x' is no whole number\n"


def test_the_password_is_made_where_the_api_is_and_dagsters_files_where_it_is_not(tmp_path: Path) -> None:
    for role, made in (("worker", False), ("web", True)):
        folder = tmp_path / role
        start = app.Start(settings_of(folder, APP_ROLE=role, API_PORT="0", DAGSTER_PORT="0"))
        start.prepare()

        assert (folder / "secrets" / "admin_password").exists() is made
        assert (folder / "dagster" / "dagster.yaml").exists() is not made


def test_a_disk_that_fills_up_ends_the_first_load_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = app.Start(settings_of(tmp_path, API_PORT="0", DAGSTER_PORT="0"))
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=3_000_000))

    with pytest.raises(StartRefused, match=r"^DATA_DIR: only 3 MB are free at .*; make room"):
        start._watch_load()


def test_a_disk_that_gets_full_later_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    start = app.Start(settings_of(tmp_path, API_PORT="0", DAGSTER_PORT="0"), out=said.append)
    monkeypatch.setattr(WriteProbe, "write", lambda _probe: 0.0)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=3_000_000))
        start.look_for_room()
        start.look_for_room()

    assert [line.partition(";")[0] for line in said] == [
        f"warning: DATA_DIR: only 3 MB are free at {tmp_path}, at least 200 MB are needed"
    ]
    start.look_for_room()

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)  # free space that is not ours
    start.look_for_room()
    assert said[1:] == [f"warning: DATA_DIR: the disk of {tmp_path} is full; make room"]


def test_a_full_disk_of_the_database_is_said_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    start = app.Start(settings_of(tmp_path, API_PORT="0", DAGSTER_PORT="0"), out=said.append)
    errors = [DiskFull("the disk is full: (1114, 'The table is full')"), StorageError("locked"), None]

    def write(_probe: object) -> float:
        error = errors.pop(0)
        if error is not None:
            raise error
        return 0.0

    monkeypatch.setattr(WriteProbe, "write", write)
    for _ in range(3):
        start.look_for_room()

    assert said == ["warning: the disk is full: (1114, 'The table is full')"]


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"WAREHOUSE_URL": "mysql+pymysql://root@127.0.0.1:1/x"}, "the warehouse (WAREHOUSE_URL): (2003, "),
        ({"DB_PORT": "1", "DB_HOST": "127.0.0.1"}, "the warehouse (DB_HOST, DB_PORT): (2003, "),
        ({"WAREHOUSE_URL": "mysql://root@127.0.0.1/x"}, "WAREHOUSE_URL: name the driver"),
        ({"WAREHOUSE_URL": "mysql+pymysql://root@127.0.0.1:port/x"}, "WAREHOUSE_URL: '"),
        (
            {"DAGSTER_POSTGRES_URL": "postgresql+psycopg2://root:topsecret@127.0.0.1:1/x"},
            'DAGSTER_POSTGRES_URL: connection to server at "127.0.0.1", port 1 failed',
        ),
    ],
)
def test_a_database_that_is_away_is_one_line_that_names_its_variable(
    tmp_path: Path, env: dict[str, str], message: str
) -> None:
    """The whole command: nothing but that line on the error stream, and no process left."""
    done = subprocess.run(
        [sys.executable, "-m", "schedules.supervisor"],
        env={
            "PATH": os.environ["PATH"],
            "DATA_DIR": str(tmp_path),
            "ENV_FILE": "none",
            "API_PORT": "0",
            "DAGSTER_PORT": "0",
            "SIMULATOR_URL": "http://127.0.0.1:1",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert "topsecret" not in done.stdout + done.stderr


SMOKE = """
import sys
from pathlib import Path
from schedules.supervisor import app, process_plan as plan
from schedules.supervisor.child_processes import ChildSpec

def child(name):
    return lambda *_: ChildSpec(name, (sys.executable, "-S", "-c", "import time; time.sleep(60)"))

names = {"simulator": plan.SIMULATOR, "code_server": plan.CODE, "daemon": plan.DAEMON, "ui": plan.UI,
         "worker": plan.WORKER, "api": plan.API}
for function, name in names.items():
    setattr(plan, function, child(name))
app.Start._migrate = lambda self: None
app.Start._load = lambda self: None
app.Start._check_location = lambda self: None
sys.exit(app.run())
"""


Started = tuple[subprocess.Popen[bytes], list[str], dict[str, Any]]


def started(folder: Path, facts: str, **env: str) -> Started:
    """A supervisor that says it is up, what it said, and what its file says."""
    process = subprocess.Popen(
        [sys.executable, "-c", SMOKE],
        env={**os.environ, "DATA_DIR": str(folder), "ENV_FILE": "none", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or "Ctrl-C" not in lines[-1]:
        line = process.stdout.readline().decode()
        assert line, lines
        lines.append(line.strip())
    return process, lines, json.loads((folder / facts).read_text())


def interrupted(process: subprocess.Popen[bytes]) -> str:
    """What it says after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    with process.stdout:
        rest = process.stdout.read().decode()
    assert process.wait(20) == 0
    return rest


def test_a_start_writes_its_facts_and_one_signal_stops_everything(tmp_path: Path) -> None:
    ports = {"API_PORT": str(checks.free_port()), "DAGSTER_PORT": str(checks.free_port())}
    data = tmp_path / "data"
    process, lines, facts = started(data, "run.json", **ports)
    others = {path.name for path in (data, *data.rglob("*")) if path.stat().st_mode & 0o077}
    rest = interrupted(process)

    assert others == set(), "a folder that is made by the start is for its owner alone, all of it"
    assert f"administrator admin, password in {data / 'secrets' / 'admin_password'}" in lines
    assert f"API        http://127.0.0.1:{ports['API_PORT']}/docs" in lines
    assert rest == "stopping\n"
    assert facts["pid"] == process.pid
    assert facts["ports"]["api"] == int(ports["API_PORT"])
    assert len(facts["pids"]) == 6
    assert not any(alive(pid) for pid in facts["pids"].values())
    assert not (data / "run.json").exists()


def test_the_api_and_the_scheduler_side_are_two_supervisors_on_one_folder(tmp_path: Path) -> None:
    web, _, of_web = started(tmp_path, "run-web.json", APP_ROLE="web", API_PORT="0")
    worker, lines, of_worker = started(tmp_path, "run.json", APP_ROLE="worker", DAGSTER_PORT="0")

    assert of_web["pids"].keys() == {"simulated_market", "api"}
    assert of_worker["pids"].keys() == {
        "simulated_market",
        "code_server",
        "dagster_daemon",
        "dagster_ui",
        "worker",
    }
    assert not any("administrator" in line for line in lines)
    interrupted(web)
    assert not any(alive(pid) for pid in of_web["pids"].values())
    assert all(alive(pid) for pid in of_worker["pids"].values())
    interrupted(worker)
    assert not any(alive(pid) for pid in of_worker["pids"].values())


# -- the first load ---------------------------------------------------------------------------------


def test_the_load_is_asked_for_once_and_shown_step_by_step(lite: object, said: list[str]) -> None:
    queue = CommandQueue(lite)  # type: ignore[arg-type]
    asked = progress.request_load(queue)
    assert progress.request_load(queue).id == asked.id
    looks = 0

    def work() -> None:
        """What the worker does between two looks."""
        nonlocal looks
        looks += 1
        if looks == 2:
            work.mine = queue.claim("w")  # type: ignore[attr-defined]
        mine = getattr(work, "mine", None)
        if looks in {3, 4}:
            queue.progress(mine, {"step": 1, "steps": 2, "stage": "history"})  # type: ignore[arg-type]
        if looks == 5:
            queue.finish(mine, "success", result={"newest": "2026-08-21"})  # type: ignore[arg-type]

    ended = progress.follow(queue, asked.id, said.append, threading.Event(), watch=work, look_s=0.0)

    assert ended is not None
    assert ended.status == "success"
    assert said == [
        "loading, waiting for the worker (0 s)",
        "loading, planning (0 s)",
        "loading, step 1 of 2: history (0 s)",
    ]
    assert progress.request_load(queue).id != asked.id


def test_following_a_load_ends_when_the_supervisor_stops(lite: object, said: list[str]) -> None:
    queue = CommandQueue(lite)  # type: ignore[arg-type]
    stopping = threading.Event()

    found = progress.follow(
        queue, progress.request_load(queue).id, said.append, stopping, watch=stopping.set, look_s=0.0
    )

    assert found is None


def test_the_pauses_before_a_restart_are_those_of_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs/operations/backup.md").read_text(encoding="utf-8")
    *first, last = (f"{pause:g}" for pause in BACKOFF_S)

    assert f"is restarted after {', '.join(first)}, then every {last} seconds" in text
