"""`ashare user add`: the account works at the API's own login."""

import io

import pytest

from resources.settings import Settings
from serving_api.app import create_app
from tests.ashare.conftest import CommandLine
from tests.serving_api.client import running

PASSWORD = "pass word 1"


def add(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, name: str, *more: str, password: str = PASSWORD
) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    return cli("user", "add", name, "--email", f"{name}@example.com", "--password-stdin", *more)


def test_the_account_logs_in_with_its_role(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert add(cli, monkeypatch, "keeper", "--admin") == 0
    assert PASSWORD not in cli.out + cli.err

    settings = Settings(data_dir=str(cli.folder / "data"), warehouse_url=cli.url)
    with running(create_app(settings)) as api:
        answer = api.post("/auth/login", json={"username": "keeper", "password": PASSWORD})
        token = answer.json()["access_token"]
        me = api.get("/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert me.json()["role"] == "admin", me.text


def test_a_name_twice_and_a_weak_password_are_refused(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add(cli, monkeypatch, "reader") == 0
    assert add(cli, monkeypatch, "reader") == 1
    assert add(cli, monkeypatch, "other", password="aaaaaaaaaa") == 1
    assert "aaaaaaaaaa" not in cli.err
    assert add(cli, monkeypatch, "x") == 1
    assert "username" in cli.err or "3" in cli.err
    assert cli.warehouse.query("SELECT username, role FROM app_users") == [("reader", "user")]
