"""`ashare doctor`: what it finds wrong, and that it changes nothing."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ashare.diagnosis import skew
from ashare.main import main
from tests.ashare.conftest import CommandLine
from tests.damaged import damage


def checked(cli: CommandLine, *options: str) -> dict[str, dict[str, Any]]:
    cli("--json", "doctor", *options)
    return {one["check"]: one for one in json.loads(cli.out)["checks"]}


def test_a_new_installation_has_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))

    assert main(["doctor"]) == 0
    assert "none failed" in capsys.readouterr().out
    assert not (tmp_path / "data").exists()


def test_a_warehouse_without_a_platform(cli: CommandLine) -> None:
    found = checked(cli)

    assert found["warehouse"]["status"] == found["warehouse, writing"]["status"] == "ok"
    assert found["worker"]["status"] == "warning"
    assert found["processes"]["status"] == found["upstreams"]["status"] == "skipped"
    assert ("clock of the warehouse" in found) == cli.url.startswith("mysql")


def test_damaged_pages_are_named(cli: CommandLine) -> None:
    if cli.url.startswith("mysql"):
        assert "warehouse, pages" not in checked(cli)
        return
    cli.warehouse.close()
    damage(Path(cli.url.removeprefix("sqlite:///")))

    pages = checked(cli)["warehouse, pages"]

    assert pages["status"] == "failed"
    assert "restore a backup" in pages["detail"]


def test_secrets_that_others_can_read_fail(cli: CommandLine) -> None:
    folder = cli.folder / "data" / "secrets"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "jwt_secret").write_bytes(b"x" * 32)
    (folder / "jwt_secret").chmod(0o644)

    assert cli("doctor", "--offline") == 1
    assert "chmod 600" in cli.out
    assert (folder / "jwt_secret").stat().st_mode & 0o777 == 0o644


def test_a_server_that_is_away_is_named_without_its_password(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", "mysql+pymysql://root:hunter2@127.0.0.1:9/ashare")
    monkeypatch.setenv("DAGSTER_POSTGRES_URL", "postgresql+psycopg2://root:hunter3@127.0.0.1:9/dagster")

    found = checked(cli, "--offline")

    assert found["warehouse"]["status"] == found["Dagster's storage"]["status"] == "failed"
    assert "WAREHOUSE_URL" in found["warehouse"]["detail"]
    assert "hunter" not in cli.out + cli.err


@pytest.mark.parametrize(
    ("variable", "value", "check"),
    [
        ("WAREHOUSE_URL", "garbage", "warehouse"),
        ("WAREHOUSE_URL", "oracle://x", "warehouse"),
        ("PAYLOAD_URL", "garbage", "warehouse"),
        ("DATA_SOURCE", "vendor", "configuration"),
    ],
)
def test_a_setting_that_nothing_can_be_done_with_is_a_finding(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, check: str
) -> None:
    monkeypatch.setenv(variable, value)

    found = checked(cli, "--offline")

    assert found[check]["status"] == "failed"
    assert variable in found[check]["detail"]


def test_the_facts_of_a_supervisor_that_was_killed_are_not_believed(cli: CommandLine) -> None:
    ended = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
    one = {"state": "running", "restarts": 0}
    facts = {"pid": int(ended.stdout), "ports": {"api": 1}, "processes": {"api": one}}
    (cli.folder / "data").mkdir(exist_ok=True)
    (cli.folder / "data" / "run.json").write_text(json.dumps(facts))

    assert checked(cli)["processes"]["status"] == "skipped"


def test_clocks_that_are_apart_fail() -> None:
    assert skew("server", time.time() + 0.5).status == "ok"
    apart = skew("server", time.time() - 30)
    assert apart.status == "failed"
    assert "30.0 s" in apart.detail
