"""Starting, watching and stopping processes: small dummies instead of the platform."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from resources.errors import InputError
from resources.log_files import RotatingLog
from resources.settings import Settings, load_settings
from resources.warehouse.ledger.commands import CommandQueue
from schedules.supervisor import app, checks, folders, plan, progress
from schedules.supervisor.checks import RunLock, StartRefused
from schedules.supervisor.family import ChildFailed, ChildSpec, Family, Interrupted
from schedules.supervisor.plan import Ports

NOW = datetime(2026, 8, 21, 15, 0)


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


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def family(tmp_path: Path, said: list[str]) -> Iterator[Family]:
    made = Family(tmp_path, dict(os.environ), said.append, stop_s=1.0, backoff_s=(0.01, 0.02))
    yield made
    made.stop()


# -- checks -----------------------------------------------------------------------------------------


def test_each_check_is_one_line_that_names_what_to_change(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    with pytest.raises(StartRefused, match=r"^Python 3\.11 or newer is needed; this is 3\.9$"):
        checks.check_python((3, 9))
    with pytest.raises(StartRefused, match=r"^DATA_DIR: .* cannot be written .*; set DATA_DIR"):
        checks.check_folder(blocked / "data")
    with pytest.raises(StartRefused, match=r"^DATA_DIR: only 150 MB are free"):
        checks.check_disk(tmp_path, lambda _path: 150_000_000)
    with pytest.raises(StartRefused, match="postgresql\\+psycopg2"):
        checks.check_postgres("postgresql://dagster@db/dagster")
    with pytest.raises(StartRefused, match=r"^DATA_DIR: .*file cannot be written \(it is a file\)"):
        checks.check_folder(blocked)
    checks.check_python()
    checks.check_folder(tmp_path / "new")
    checks.check_disk(tmp_path, lambda _path: 200_000_000)
    checks.check_postgres("")


def test_a_postgres_without_its_driver_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = "postgresql+psycopg2://dagster@db/dagster"
    checks.check_postgres(url)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    with pytest.raises(
        StartRefused, match=r"^DAGSTER_POSTGRES_URL: psycopg2 is not installed; .*\[postgres\]"
    ):
        checks.check_postgres(url)


def test_a_clock_that_is_frozen_outside_the_calendar_is_refused() -> None:
    checks.check_now(None)
    checks.check_now(NOW)
    with pytest.raises(StartRefused, match=r"^SAMPLE_NOW: 2031-01-05 is outside the trade calendar"):
        checks.check_now(datetime(2031, 1, 5))


def test_files_of_the_simulated_market_are_looked_for_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"^SAMPLE_FAULTS: there is no file /none\.json"):
        checks.check_files(settings_of(tmp_path, SAMPLE_FAULTS="/none.json"))
    with pytest.raises(StartRefused, match=r"^REAL_DATA_DIR: there is no folder /none"):
        checks.check_files(settings_of(tmp_path, SAMPLE_WORLD="replay", REAL_DATA_DIR="/none"))
    checks.check_files(settings_of(tmp_path, SAMPLE_WORLD="replay", REAL_DATA_DIR=str(tmp_path)))


def test_an_address_of_another_machine_is_refused_by_the_name_of_its_variable() -> None:
    with pytest.raises(StartRefused, match=r"^API_HOST: 203\.0\.113\.7 is no address of this machine"):
        checks.check_port("API_PORT", "203.0.113.7", 8000)


def test_a_taken_port_is_refused_by_the_name_of_its_variable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartRefused, match=f"^API_PORT: port {port} on 127.0.0.1 cannot be used"):
            checks.check_port("API_PORT", "127.0.0.1", port)
        assert checks.free_port(port) != port
    checks.check_port("API_PORT", "127.0.0.1", port)
    assert checks.free_port(port) == port


def test_a_second_start_says_who_runs(tmp_path: Path) -> None:
    first, second = RunLock(tmp_path), RunLock(tmp_path)
    first.take(NOW)

    with pytest.raises(StartRefused, match=f"in use by process {os.getpid()} since 2026-08-21 15:00:00"):
        second.take(NOW)
    first.release()
    second.take(NOW)
    second.release()


def test_the_api_and_the_scheduler_side_share_a_folder_and_nobody_else_joins_them(tmp_path: Path) -> None:
    web, worker = RunLock(tmp_path, "web"), RunLock(tmp_path, "worker")
    web.take(NOW)
    worker.take(NOW)

    for role in ("web", "worker", "all"):
        with pytest.raises(StartRefused, match="in use by process"):
            RunLock(tmp_path, role).take(NOW)
    worker.release()
    with pytest.raises(StartRefused, match="in use by process"):
        RunLock(tmp_path, "all").take(NOW)
    # Who was refused holds nothing back.
    RunLock(tmp_path, "worker").take(NOW)
    web.release()


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from datetime import datetime\n"
        "from schedules.supervisor.checks import RunLock\n"
        f"RunLock(Path({str(tmp_path)!r})).take(datetime.now()); print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(StartRefused, match=f"process {process.pid} "):
            RunLock(tmp_path).take(NOW)
        process.kill()
        process.wait()
    lock = RunLock(tmp_path)
    lock.take(NOW)
    lock.release()


# -- folders ----------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_secrets_are_for_the_owner_alone_and_stay_the_same(tmp_path: Path) -> None:
    folders.make_folders(tmp_path)
    password, path = folders.admin_password(tmp_path)

    assert (mode(tmp_path / "secrets"), mode(path)) == (0o700, 0o600)
    assert len(password) >= 20
    assert folders.admin_password(tmp_path) == (password, path)


def test_dagsters_files_lie_in_the_data_folder(tmp_path: Path) -> None:
    import yaml

    folders.make_folders(tmp_path)
    home = folders.write_dagster_home(tmp_path, postgres=True)
    workspace = folders.write_workspace(tmp_path, port=4242, location="platform")

    instance = yaml.safe_load((home / "dagster.yaml").read_text())
    assert instance["storage"]["postgres"]["postgres_url"] == {"env": "DAGSTER_POSTGRES_URL"}
    assert instance["telemetry"] == {"enabled": False}
    server = yaml.safe_load(workspace.read_text())["load_from"][0]["grpc_server"]
    assert server == {"host": "127.0.0.1", "port": 4242, "location_name": "platform"}
    folders.write_dagster_home(tmp_path, postgres=False)
    assert "storage" not in yaml.safe_load((home / "dagster.yaml").read_text())


# -- settings and plan --------------------------------------------------------------------------------


def settings_of(tmp_path: Path, **env: str) -> Settings:
    values = {"DATA_DIR": str(tmp_path), "ENV_FILE": str(tmp_path / "none"), **env}
    return app.read_settings(values)


def test_a_start_serves_sample_data_unless_told_otherwise(tmp_path: Path) -> None:
    assert settings_of(tmp_path).data_source == "mock"
    assert settings_of(tmp_path, DATA_SOURCE="real").data_source == "real"
    with pytest.raises(InputError, match="DATA_SOURCE"):
        settings_of(tmp_path, DATA_SOURCE="mok")


@pytest.mark.parametrize(
    ("role", "used"),
    [
        ("all", {"api", "dagster", "code_server", "simulator_http", "simulator_tcp"}),
        ("web", {"api", "simulator_http", "simulator_tcp"}),
        ("worker", {"dagster", "code_server", "simulator_http", "simulator_tcp"}),
        ("nonsense", {"api", "dagster", "code_server", "simulator_http", "simulator_tcp"}),
    ],
)
def test_a_role_has_its_processes(tmp_path: Path, role: str, used: set[str]) -> None:
    ports = app.choose_ports(settings_of(tmp_path, APP_ROLE=role), {})

    assert {name for name, port in ports.__dict__.items() if port} == used
    assert (ports.api or 8000, ports.dagster or 3000) == (8000, 3000)


def test_inner_ports_are_kept_and_a_named_simulator_is_not_started(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, SIMULATOR_URL="http://127.0.0.1:1", SIMULATOR_TDX="127.0.0.1:2")
    port = checks.free_port()

    ports = app.choose_ports(settings, {"ports": {"code_server": port}})

    assert (ports.code_server, ports.simulator_http) == (port, 0)
    assert "SIMULATOR_URL" not in plan.child_environment(settings, ports)


def test_children_are_told_where_everything_is(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, SAMPLE_NOW="2026-08-21T15:30", SAMPLE_PROFILE="M")
    ports = Ports(api=1, dagster=2, code_server=3, simulator_http=4, simulator_tcp=5)

    env = plan.child_environment(settings, ports)
    simulator = plan.simulator(settings, ports)

    assert env["SIMULATOR_URL"] == "http://127.0.0.1:4"
    assert env["SIMULATOR_TDX"] == "127.0.0.1:5"
    assert (env["DATA_SOURCE"], env["APP_ROLE"]) == ("mock", "all")
    assert env["DAGSTER_HOME"] == str(tmp_path / "dagster")
    # A child reads its settings from this environment, as the real ones do.
    assert load_settings(env, dotenv=tmp_path / "none").data_path == tmp_path
    joined = " ".join(simulator.command)
    assert "--http-port 4 --tcp-port 5 --world synthetic --profile M" in joined
    assert "--now 2026-08-21T15:30" in joined
    assert "--faults" not in joined
    assert plan.worker(ports).env == {"DAGSTER_PORT": "2"}
    assert plan.api(settings, ports, {"X": "y"}).env == {"API_PORT": "1", "DAGSTER_PORT": "2", "X": "y"}


def test_the_files_of_two_supervisors_do_not_meet(tmp_path: Path) -> None:
    web, worker = settings_of(tmp_path, APP_ROLE="web"), settings_of(tmp_path, APP_ROLE="worker")
    ports = Ports(simulator_http=1, simulator_tcp=2)

    assert folders.run_file(tmp_path, "web") != folders.run_file(tmp_path, "worker")
    assert folders.run_file(tmp_path, "all") == tmp_path / "run.json"
    ready = [plan.simulator(each, ports).command[-3] for each in (web, worker)]
    assert ready == [str(tmp_path / "simulator-web.json"), str(tmp_path / "simulator.json")]


# -- processes --------------------------------------------------------------------------------------


def test_a_child_is_ready_when_it_says_so_and_ends_with_term(
    family: Family, tmp_path: Path, said: list[str]
) -> None:
    mark = tmp_path / "ready"
    family.start(
        dummy("child", f"open({str(mark)!r}, 'w').close(); print('hello', flush=True); time.sleep(60)",
              ready=mark.exists)
    )  # fmt: skip
    pid = family.pids()["child"]
    until(lambda: "hello" in (tmp_path / "child.log").read_text())

    assert family.stop() == []
    assert not alive(pid)
    assert said == []


def test_a_child_that_ignores_term_is_killed_with_its_children(family: Family, tmp_path: Path) -> None:
    mark = tmp_path / "grandchild"
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pid = os.fork()\n"
        f"if pid: open({str(mark) + '.part'!r}, 'w').write(str(pid)); "
        f"os.replace({str(mark) + '.part'!r}, {str(mark)!r})\n"
        "time.sleep(60)"
    )
    family.start(dummy("stubborn", code, ready=mark.exists))
    pid, grandchild = family.pids()["stubborn"], int(mark.read_text())

    assert family.stop() == ["stubborn"]
    until(lambda: not alive(pid) and not alive(grandchild))


def test_ignored_signals_of_the_shell_do_not_reach_a_child(family: Family, tmp_path: Path) -> None:
    mark = tmp_path / "ready"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = (
            "ok = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN\n"
            f"open({str(mark)!r}, 'w').write(str(ok))\ntime.sleep(60)"
        )
        family.start(dummy("child", code, ready=lambda: mark.exists() and bool(mark.read_text())))
    finally:
        signal.signal(signal.SIGINT, before)

    assert mark.read_text() == "True"


def test_a_child_that_dies_at_its_start_is_named_with_its_last_words(family: Family) -> None:
    with pytest.raises(ChildFailed, match="broken ended with 3 at its start: no such table"):
        family.start(
            dummy("broken", "time.sleep(.1); sys.exit(print('no such table') or 3)", ready=lambda: False)
        )


def test_a_start_can_be_interrupted(family: Family) -> None:
    threading.Timer(0.2, family.stopping.set).start()

    with pytest.raises(Interrupted):
        family.start(dummy("slow", "time.sleep(60)", ready=lambda: False))


def test_a_child_that_dies_is_restarted_and_it_is_said(
    family: Family, tmp_path: Path, said: list[str]
) -> None:
    family.start(dummy("worker", f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); time.sleep(60)"))
    until((tmp_path / "starts").exists)
    first = family.pids()["worker"]
    os.kill(first, signal.SIGKILL)
    until(lambda: "worker" not in family.pids())

    family.watch()
    assert said[-1].startswith("worker ended with -9, restarting in 0.01 s")
    time.sleep(0.02)
    family.watch()

    assert family.pids()["worker"] != first
    assert said[-1] == f"worker restarted as process {family.pids()['worker']}"
    until(lambda: (tmp_path / "starts").read_text() == "xx")


@pytest.mark.skipif(sys.platform != "linux", reason="data not there: parent-death signals are Linux's")
def test_children_do_not_outlive_a_killed_supervisor(tmp_path: Path) -> None:
    code = (
        "import sys, time, os; from pathlib import Path\n"
        "from schedules.supervisor.family import ChildSpec, Family\n"
        f"family = Family(Path({str(tmp_path)!r}), dict(os.environ), print)\n"
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
    looks = 0

    def usage(_path: Path) -> SimpleNamespace:
        nonlocal looks
        looks += 1
        if looks == 3:
            start.family.stopping.set()
        return SimpleNamespace(free=3_000_000)

    monkeypatch.setattr("shutil.disk_usage", usage)
    monkeypatch.setattr(app, "DISK_S", 0.0)
    start.watch()

    assert [line.partition(";")[0] for line in said] == [
        f"warning: DATA_DIR: only 3 MB are free at {tmp_path}, at least 200 MB are needed"
    ]


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
        [sys.executable, "-m", "schedules.run"],
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
from schedules.supervisor import app, plan
from schedules.supervisor.family import ChildSpec

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


def test_a_start_writes_its_facts_and_one_signal_stops_everything(tmp_path: Path) -> None:
    ports = {"API_PORT": str(checks.free_port()), "DAGSTER_PORT": str(checks.free_port())}
    env = {**os.environ, "DATA_DIR": str(tmp_path), "ENV_FILE": "none", **ports}
    process = subprocess.Popen(
        [sys.executable, "-c", SMOKE], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    with process.stdout:
        lines: list[str] = []
        while not lines or "Ctrl-C" not in lines[-1]:
            line = process.stdout.readline().decode()
            assert line, lines
            lines.append(line.strip())
        facts = json.loads((tmp_path / "run.json").read_text())
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().decode()
        assert process.wait(20) == 0

    assert f"administrator admin, password in {tmp_path / 'secrets' / 'admin_password'}" in lines
    assert f"API        http://127.0.0.1:{ports['API_PORT']}/docs" in lines
    assert rest == "stopping\n"
    assert facts["pid"] == process.pid
    assert facts["ports"]["api"] == int(ports["API_PORT"])
    assert len(facts["pids"]) == 6
    assert not any(alive(pid) for pid in facts["pids"].values())
    assert not (tmp_path / "run.json").exists()


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
