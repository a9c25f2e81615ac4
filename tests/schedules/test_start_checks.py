"""What is checked and laid out before a process starts: settings, ports, disk, locks, folders, commands."""

import os
import socket
import stat
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from core.errors import InputError
from resources.run_lock import RunLock, StartRefused
from resources.settings import Settings, load_settings
from schedules.supervisor import app, checks, folders, process_plan
from schedules.supervisor.process_plan import Ports

NOW = datetime(2026, 8, 21, 15, 0)


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
        StartRefused, match=r"^DAGSTER_POSTGRES_URL: psycopg2 is not installed; .*\[server,postgres\]"
    ):
        checks.check_postgres(url)


def test_a_clock_that_is_frozen_outside_the_calendar_is_refused() -> None:
    checks.check_now(None)
    checks.check_now(NOW)
    with pytest.raises(StartRefused, match=r"^SAMPLE_NOW: 2100-01-05 is outside the trade calendar"):
        checks.check_now(datetime(2100, 1, 5))


def test_files_of_the_simulated_market_are_looked_for_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"^SAMPLE_FAULTS: there is no file /none\.json"):
        checks.check_files(settings_of(tmp_path, SAMPLE_FAULTS="/none.json"))
    with pytest.raises(StartRefused, match=r"^SAMPLE_TEXTS: there is no file /none\.json"):
        checks.check_files(settings_of(tmp_path, SAMPLE_TEXTS="/none.json"))
    with pytest.raises(StartRefused, match=r"^REAL_DATA_DIR: there is no folder /none"):
        checks.check_files(settings_of(tmp_path, SAMPLE_WORLD="replay", REAL_DATA_DIR="/none"))
    checks.check_files(settings_of(tmp_path, SAMPLE_WORLD="replay", REAL_DATA_DIR=str(tmp_path)))


def test_an_address_of_another_machine_is_refused_by_the_name_of_its_variable() -> None:
    with pytest.raises(StartRefused, match=r"^API_HOST: 203\.0\.113\.7 is no address of this machine"):
        checks.check_port("API_PORT", "203.0.113.7", 8000, address="API_HOST")


def test_a_taken_port_is_refused_by_the_name_of_its_variable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartRefused, match=f"^API_PORT: port {port} on 127.0.0.1 cannot be used"):
            checks.check_port("API_PORT", "127.0.0.1", port, address="API_HOST")
        assert checks.free_port(port) != port
    checks.check_port("API_PORT", "127.0.0.1", port, address="API_HOST")
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
        "from resources.run_lock import RunLock\n"
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


def test_a_new_data_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    """One that is there keeps what its owner chose: somebody may read the lake of it."""
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    for data in (tmp_path / "new", shared):
        folders.make_folders(data)

    assert (mode(tmp_path / "new"), mode(shared)) == (0o700, 0o755)


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
    assert "SIMULATOR_URL" not in process_plan.child_environment(settings, ports)


def test_children_are_told_where_everything_is(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, SAMPLE_NOW="2026-08-21T15:30", SAMPLE_PROFILE="M")
    ports = Ports(api=1, dagster=2, code_server=3, simulator_http=4, simulator_tcp=(5, 6))

    env = process_plan.child_environment(settings, ports)
    simulator = process_plan.simulator(settings, ports)

    assert env["SIMULATOR_URL"] == "http://127.0.0.1:4"
    assert env["SIMULATOR_TDX"] == "127.0.0.1:5,127.0.0.1:6"
    assert (env["DATA_SOURCE"], env["APP_ROLE"]) == ("mock", "all")
    assert env["DAGSTER_HOME"] == str(tmp_path / "dagster")
    # A child reads its settings from this environment, as the real ones do.
    assert load_settings(env, dotenv=tmp_path / "none").data_path == tmp_path
    joined = " ".join(simulator.command)
    assert "--http-port 4 --world synthetic --profile M" in joined
    assert "--tcp-port 5 6" in joined
    assert "--now 2026-08-21T15:30" in joined
    assert "--faults" not in joined
    assert process_plan.worker(settings, ports).env == {"DAGSTER_PORT": "2"}
    assert process_plan.api(settings, ports, {"X": "y"}).env == {
        "API_PORT": "1",
        "DAGSTER_PORT": "2",
        "X": "y",
    }


def test_the_files_of_two_supervisors_do_not_meet(tmp_path: Path) -> None:
    web, worker = settings_of(tmp_path, APP_ROLE="web"), settings_of(tmp_path, APP_ROLE="worker")
    ports = Ports(simulator_http=1, simulator_tcp=(2,))

    assert folders.run_file(tmp_path, "web") != folders.run_file(tmp_path, "worker")
    assert folders.run_file(tmp_path, "all") == tmp_path / "run.json"
    commands = [process_plan.simulator(each, ports).command for each in (web, worker)]
    ready = [command[command.index("--ports-file") + 1] for command in commands]
    assert ready == [str(tmp_path / "simulator-web.json"), str(tmp_path / "simulator.json")]
