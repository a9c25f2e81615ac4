"""Logs: planted secrets are in no output, records carry their ids, files rotate under several writers."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError, StorageError
from resources import logs
from resources.log_files import RotatingLog
from resources.settings import Settings, load_settings

PASSWORD = "hunter2-db-pass"
URL_PASSWORD = "p4ss-in-url"
TOKEN = "abcdefTOKEN0123456789"
API_KEY = "sk-live-0123456789abcdef"
PLANTED = (PASSWORD, URL_PASSWORD, TOKEN, API_KEY)
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(logs.SUPERVISED, raising=False)
    level = logging.getLogger().level
    yield
    logs.unconfigure()
    logging.getLogger().setLevel(level)


def settings(folder: Path, **more: Any) -> Settings:
    return Settings(data_dir=str(folder), db_password=PASSWORD, **more)


def read(folder: Path, name: str = "api") -> list[dict[str, Any]]:
    text = (folder / "logs" / f"{name}.log").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def plant(log: logging.Logger) -> None:
    """Every secret, in every way in which a call can carry one."""
    log.warning("connect mysql+pymysql://root:%s@db:3306/ashare", URL_PASSWORD)
    log.warning("Authorization: Bearer %s", TOKEN)
    log.warning("sent %s", {"api_key": API_KEY, "headers": [("x-token", TOKEN)]})
    log.warning("the server said: access denied with %s", PASSWORD)
    log.warning("fields", extra={"batch_id": f"token={TOKEN}", "unknown": PASSWORD})
    error = StorageError(f"DB_PASSWORD={URL_PASSWORD} and {API_KEY}")
    log.error("failed with api_key=%s", API_KEY, exc_info=error, stack_info=True)


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_planted_secret_is_in_any_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    logs.configure(settings(tmp_path, log_format=form), "api")

    plant(logging.getLogger("resources.somewhere"))
    thread = threading.Thread(target=_raise, args=(f"token: {TOKEN}",))
    thread.start()
    thread.join()
    sys.excepthook(RuntimeError, RuntimeError(f"password={URL_PASSWORD}"), None)

    file = (tmp_path / "logs" / "api.log").read_text(encoding="utf-8")
    shown = capsys.readouterr()
    for output in (file, shown.err):
        assert [secret for secret in PLANTED if secret in output] == []
        assert output.count("***") >= 9
        assert "StorageError" in output
        assert "uncaught RuntimeError in thread" in output
    assert shown.out == ""


def test_a_call_whose_arguments_do_not_fit_is_logged_masked() -> None:
    formatter = logs.Formatter("api", logs.masker([PASSWORD]), as_json=True)
    record = logging.LogRecord("a", logging.INFO, "", 1, "%d rows", (f"{PASSWORD} token={TOKEN}",), None)

    message = json.loads(formatter.format(record))["message"]

    assert message == "%d rows ('*** token=***',)"


def _raise(message: str) -> None:
    raise RuntimeError(message)


def test_a_record_is_one_json_line_with_its_ids(tmp_path: Path) -> None:
    logs.configure(settings(tmp_path), "worker", console=False)
    log = logging.getLogger("schedules.commands.worker")

    with logs.bound(command_id=7, run_id=None), logs.bound(run_id="r1"):
        log.info("line one\nline two %s", "中文", extra={"batch_id": "b1"})
    log.error("outside")

    first, second = read(tmp_path, "worker")
    assert first["time"].endswith("+08:00")
    assert {key: value for key, value in first.items() if key not in {"time", "pid"}} == {
        "level": "INFO",
        "process": "worker",
        "logger": "schedules.commands.worker",
        "message": "line one\nline two 中文",
        "command_id": "7",
        "run_id": "r1",
        "batch_id": "b1",
    }
    assert first["pid"] == os.getpid()
    assert not {"run_id", "command_id", "batch_id"} & second.keys()


def test_text_is_for_readers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(settings(tmp_path, log_format="text", log_level="warning"), "api")

    with logs.bound(request_id="abc"):
        logging.getLogger("serving_api").warning("slow")
    logging.getLogger("serving_api").info("below the level")

    line = capsys.readouterr().err
    assert line.endswith("WARNING serving_api request_id=abc slow\n")
    assert line.count("\n") == 1


def test_under_the_supervisor_only_the_stream_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(logs.SUPERVISED, "1")
    logs.configure(settings(tmp_path), "api")

    logging.getLogger("a").warning("once")

    assert json.loads(capsys.readouterr().err)["message"] == "once"
    assert not (tmp_path / "logs").exists()


def test_a_second_configuration_replaces_the_first(tmp_path: Path) -> None:
    logs.configure(settings(tmp_path), "first", console=False)
    logs.configure(settings(tmp_path), "second", console=False)
    logs.ensure(settings(tmp_path), "third")

    logging.getLogger("a").warning("once")

    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["second.log"]
    assert len(read(tmp_path, "second")) == 1


@pytest.mark.parametrize(("name", "value"), [("LOG_FORMAT", "xml"), ("LOG_LEVEL", "LOUD")])
def test_an_unknown_format_or_level_refuses_to_start(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{name}: '{value}' is none of"):
        load_settings({name: value}, dotenv=tmp_path / "none")


def test_what_a_dead_process_said_last_is_readable(tmp_path: Path) -> None:
    logs.configure(settings(tmp_path), "api", console=False)
    logging.getLogger("a").info("first")
    sys.excepthook(ValueError, ValueError("no such port"), None)

    tail = RotatingLog(tmp_path / "logs" / "api.log").tail(shown=logs.said)

    assert tail == "first | uncaught ValueError: ValueError: no such port"


# -- the processes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("schedules.supervisor.migrate", []),
        ("schedules.commands.worker", []),
        ("serving_api", []),
        ("simulated_market", ["--http-port", "-1"]),
    ],
)
def test_a_process_that_fails_to_start_logs_no_secret(
    tmp_path: Path, module: str, arguments: list[str]
) -> None:
    """Each entry point with a database that refuses: nothing that it prints or writes holds a secret."""
    env = {
        **{key: value for key, value in os.environ.items() if key in {"PATH", "HOME", "LANG"}},
        "DATA_DIR": str(tmp_path),
        "ENV_FILE": str(tmp_path / "none"),
        "DB_PASSWORD": PASSWORD,
        "WAREHOUSE_URL": f"mysql+nodriver://root:{URL_PASSWORD}@127.0.0.1:1/ashare",
        "ADMIN_SEED_PASSWORD": API_KEY,
        "DAGSTER_HOME": str(tmp_path),
        "API_PORT": "0",
    }

    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    written = "".join(path.read_text() for path in (tmp_path / "logs").glob("*.log*"))
    output = done.stdout + done.stderr + written
    assert done.returncode != 0
    assert output.strip()
    assert [secret for secret in PLANTED if secret in output] == []


# -- the file ---------------------------------------------------------------------------------------


def test_several_writers_share_a_file_and_lose_no_line(tmp_path: Path) -> None:
    """Each writer is a RotatingLog of its own, as in processes of their own."""
    writers = [RotatingLog(tmp_path / "a.log", max_bytes=2000, keep=50) for _ in range(4)]

    def work(number: int) -> None:
        for at in range(100):
            writers[number].write(f"{number}-{at:03d} {'x' * 20}\n".encode())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for writer in writers:
        writer.close()

    files = list(tmp_path.iterdir())
    lines = [line.split()[0] for path in files for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(f"{number}-{at:03d}" for number in range(4) for at in range(100))
    assert len(files) > 3


def test_a_log_file_that_cannot_be_written_does_not_stop_the_process(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    logs.configure(settings(tmp_path), "api", console=False)

    logging.getLogger("a").warning("lost")

    assert (tmp_path / "logs").read_text() == "a file where the folder should be"
