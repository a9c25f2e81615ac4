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


def test_an_account_is_listed_disabled_and_gets_a_password(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add(cli, monkeypatch, "keeper", "--admin") == 0
    assert add(cli, monkeypatch, "reader") == 0
    assert cli("user", "disable", "READER") == 0
    assert cli("user", "list") == 0
    assert [line.split()[1::3] for line in cli.out.splitlines()[-2:]] == [
        ["reader", "disabled"],
        ["keeper", "active"],
    ]
    assert cli("user", "disable", "keeper") == 1, "the last administrator"
    assert cli("user", "activate", "nobody") == 1

    monkeypatch.setattr("sys.stdin", io.StringIO("battery staple\n"))
    assert cli("user", "password", "reader", "--password-stdin") == 0
    assert cli("user", "activate", "reader") == 0
    settings = Settings(data_dir=str(cli.folder / "data"), warehouse_url=cli.url)
    with running(create_app(settings)) as api:
        tried = [
            api.post("/auth/login", json={"username": "reader", "password": password}).status_code
            for password in (PASSWORD, "battery staple")
        ]
    assert tried == [401, 200]
