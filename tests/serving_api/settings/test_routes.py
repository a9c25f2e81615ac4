"""/settings and /notifications over HTTP: merging, masking, who may, mails that really go out."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from resources.notifications import NotificationStore
from serving_api.settings.mail import Mail
from tests.mail.server import PASSWORD, USER, Inbox, smtp_server
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

SMTP = {
    "host": "localhost",
    "port": 2525,
    "user": USER,
    "password": PASSWORD,
    "from_addr": "robot@example.com",
    "enabled": True,
}


def everything_stored(bench: Bench) -> str:
    warehouse = bench.warehouse(read_only=True)
    try:
        with warehouse.engine.connect() as connection:
            return str(connection.exec_driver_sql("SELECT * FROM sys_config").all())
    finally:
        warehouse.close()


def test_the_mail_server_is_stored_and_its_password_never_seen_again(own_on_both: Bench) -> None:
    api, admin = own_on_both.api, own_on_both.admin()
    empty = api.get("/settings/smtp-config", headers=admin).json()
    assert (empty["host"], empty["port"], empty["has_password"], empty["enabled"]) == ("", 465, False, False)

    assert api.post("/settings/smtp-config", json=SMTP, headers=admin).json()["ok"] is True
    moved = {**SMTP, "password": "", "host": "mail.example.com"}
    refused = api.post("/settings/smtp-config", json=moved, headers=admin)
    assert (refused.status_code, refused.json()["detail"].split(":")[0]) == (422, "password")
    moved["password"] = PASSWORD
    assert api.post("/settings/smtp-config", json=moved, headers=admin).json()["ok"] is True
    kept = {**moved, "password": ""}
    assert api.post("/settings/smtp-config", json=kept, headers=admin).status_code == 200

    shown = api.get("/settings/smtp-config", headers=admin)
    assert shown.json() == {
        "host": "mail.example.com",
        "port": 2525,
        "user": USER,
        "from_addr": "robot@example.com",
        "use_tls": False,
        "has_password": True,
        "enabled": True,
    }
    assert PASSWORD not in shown.text + everything_stored(own_on_both)
    key = own_on_both.folder / "secrets" / "settings_key"
    assert key.stat().st_mode & 0o777 == 0o600
    found = api.call(api.app.state.platform.part(Mail).settings)
    assert (found.host, found.password) == ("mail.example.com", PASSWORD)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"host": "mail.example.com:25"}, "host"),
        ({"port": 0}, "port"),
        ({"user": "a\r\nRCPT TO:<x>"}, "user"),
        ({"from_addr": "nobody"}, "from_addr"),
        ({"sender": "x"}, "sender"),
    ],
)
def test_bad_mail_settings_name_the_parameter(own: Bench, change: dict[str, Any], name: str) -> None:
    answer = own.api.post("/settings/smtp-config", json={**SMTP, **change}, headers=own.admin())
    assert answer.status_code == 422
    assert name in answer.json()["detail"]


def test_what_the_environment_fixes_cannot_be_stored(tmp_path: Path) -> None:
    explicit = frozenset({"enable_email_notification", "smtp_port"})
    how = {"explicit": explicit, "enable_email_notification": False, "smtp_port": 587}
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    with running(make_app(url, tmp_path, Ticks(), **how)) as api:
        bench = Bench(api, Ticks(), url, tmp_path)
        admin = bench.admin()
        for change, name in (({"port": 25, "enabled": False}, "port"), ({"port": 587}, "enabled")):
            answer = api.post("/settings/smtp-config", json={**SMTP, **change}, headers=admin)
            assert (answer.status_code, name in answer.json()["detail"]) == (422, True)


def test_a_test_mail_is_sent_and_a_refusal_is_reported(
    own: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, inbox = own.admin(), Inbox()
    asked = {"to": "boss@example.com"}
    before = own.api.post("/settings/test-smtp", json=asked, headers=admin).json()
    assert before == {"ok": False, "message": "no SMTP server is configured"}
    with smtp_server(tmp_path, monkeypatch, inbox) as port:
        own.api.post("/settings/smtp-config", json={**SMTP, "port": port}, headers=admin)
        assert own.api.post("/settings/test-smtp", json=asked, headers=admin).json()["ok"] is True
        wrong = {**SMTP, "port": port, "password": "wrong"}
        own.api.post("/settings/smtp-config", json=wrong, headers=admin)
        refused = own.api.post("/settings/test-smtp", json=asked, headers=admin).json()

    assert [mail["To"] for mail in inbox.mails] == ["boss@example.com"]
    assert refused["ok"] is False
    assert "the login" in refused["message"]


def test_a_registration_sends_a_welcome_mail_once_mails_are_on(
    own: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, inbox = own.admin(), Inbox()
    with smtp_server(tmp_path, monkeypatch, inbox) as port:
        own.member("before")
        own.api.post("/settings/smtp-config", json={**SMTP, "port": port}, headers=admin)
        own.member("after")

    assert [mail["To"] for mail in inbox.mails] == ["after@example.com"]


def test_the_senders_own_test_mail_once_a_minute(
    own: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, inbox = own.admin(), Inbox()
    skipped = own.api.post("/notifications/test-email").json()
    assert (skipped["ok"], skipped["skipped"]) == (True, True)
    with smtp_server(tmp_path, monkeypatch, inbox) as port:
        own.api.post("/settings/smtp-config", json={**SMTP, "port": port}, headers=admin)
        early = own.api.post("/notifications/test-email")
        own.ticks.advance(60)
        assert own.api.post("/notifications/test-email").json()["ok"] is True

    assert (early.status_code, early.headers["retry-after"]) == (429, "61")
    assert [mail["To"] for mail in inbox.mails] == ["robot@example.com"]


def test_model_providers_are_merged_key_by_key(own_on_both: Bench) -> None:
    api, admin = own_on_both.api, own_on_both.admin()

    def post(**body: Any) -> Any:
        return api.post("/settings/model-config", json=body, headers=admin)

    first = {"base_url": "https://one.example.com/v1/", "model": "m1", "api_key": "sk-first-secret"}
    post(providers={"one": first})
    post(providers={"two": {"model": "m2", "api_key": "sk-second-secret"}}, active="one", fallback=["two"])
    saved = post(providers={"one": {"model": "m1b", "api_key": ""}})

    expected = {
        "providers": {
            "one": {"base_url": "https://one.example.com/v1", "model": "m1b", "has_key": True},
            "two": {"base_url": None, "model": "m2", "has_key": True},
        },
        "active": "one",
        "fallback": ["two"],
    }
    presets = saved.json()["presets"]
    assert {one["name"]: one["base_url"] for one in presets}["deepseek"] == "https://api.deepseek.com/v1"
    expected["presets"] = presets
    assert saved.json() == {"ok": True, **expected}
    shown = api.get("/settings/model-config", headers=admin)
    assert shown.json() == expected
    assert "secret" not in shown.text + saved.text + everything_stored(own_on_both)

    moved = post(providers={"one": {"base_url": "https://other.example.com/v1"}})
    assert (moved.status_code, moved.json()["detail"].split(":")[0]) == (422, "api_key")
    assert post(providers={"one": {"base_url": "https://one.example.com/v2"}}).json()["ok"] is True
    assert post(providers={"one": {"base_url": "https://one.example.com/v1"}}).json()["ok"] is True
    assert post(active="three").status_code == 422
    assert post(fallback=["two", "two"]).status_code == 422
    assert post(providers={"x": {"base_url": "http://example.com"}}).status_code == 422
    assert api.get("/settings/model-config", headers=admin).json() == expected
    gone = post(providers={"one": None}).json()
    assert (list(gone["providers"]), gone["active"], gone["fallback"]) == (["two"], None, ["two"])


def test_changes_at_once_lose_no_provider(own_on_both: Bench) -> None:
    api, admin = own_on_both.api, own_on_both.admin()

    def post(number: int) -> int:
        body = {"providers": {f"p{number}": {"model": "m", "api_key": f"key-{number}"}}}
        return int(api.post("/settings/model-config", json=body, headers=admin).status_code)

    post(0)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(post, range(1, 9)))
    stored = api.get("/settings/model-config", headers=admin).json()["providers"]
    assert {f"p{number}" for number, status in enumerate(answers, 1) if status == 200} <= stored.keys()
    assert answers.count(200) >= 1


def test_seven_menu_keys_and_no_other(own_on_both: Bench) -> None:
    api, admin = own_on_both.api, own_on_both.admin()
    reader = own_on_both.member()
    assert api.get("/settings/menu-visibility").status_code == 401
    first = api.get("/settings/menu-visibility", headers=reader).json()
    assert (first["hide_for_user"], first["hide_for_admin"], len(first["keys"])) == ([], [], 7)

    assert api.post("/settings/menu-visibility", json={}, headers=reader).status_code == 403
    requested = {"hide_for_user": ["/thesis", "/datamgr", "/thesis"]}
    api.post("/settings/menu-visibility", json=requested, headers=admin)
    api.post("/settings/menu-visibility", json={"hide_for_admin": ["/screener"]}, headers=admin)
    bad = api.post("/settings/menu-visibility", json={"hide_for_user": ["/home"]}, headers=admin)

    assert bad.status_code == 422
    shown = api.get("/settings/menu-visibility", headers=reader).json()
    assert shown["hide_for_user"] == ["/thesis", "/datamgr"]
    assert shown["hide_for_admin"] == ["/screener"]


def test_notifications_are_read_marked_and_paged(own: Bench) -> None:
    store = NotificationStore(own.folder / "notifications")
    now = datetime(2026, 8, 18, 10, 0)
    for number in range(3):
        store.add("portfolio_alert", f"提醒 {number}", "涨幅 6.00%", now=now, code="600040")

    unread = own.api.get("/notifications/unread")
    assert (unread.json()["count"], unread.json()["items"][0]["title"]) == (3, "提醒 2")
    assert unread.json()["items"][0]["created_at"] == "2026-08-18T10:00:00+08:00"
    again = own.api.get("/notifications/unread", headers={"If-None-Match": unread.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")

    first = unread.json()["items"][0]["id"]
    assert own.api.post(f"/notifications/{first}/read").json() == {"ok": True, "id": first}
    changed = own.api.get("/notifications/unread", headers={"If-None-Match": unread.headers["etag"]})
    assert changed.json()["count"] == 2
    assert own.api.post("/notifications/read-all").json() == {"ok": True, "updated": 2}
    page = own.api.get("/notifications?page=2&page_size=2").json()
    assert (page["total"], [row["title"] for row in page["items"]]) == (3, ["提醒 0"])
    assert own.api.post("/notifications/20260818-99/read").status_code == 404
    assert own.api.post("/notifications/..%2F..%2Fx/read").status_code in {404, 422}


def test_notifications_can_ask_for_a_login(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    ticks = Ticks()
    with running(make_app(url, tmp_path, ticks, notifications_require_login=True)) as api:
        bench = Bench(api, ticks, url, tmp_path)
        assert api.get("/notifications/unread").status_code == 401
        assert api.get("/notifications/unread", headers=bench.member()).status_code == 200
        assert asyncio.iscoroutinefunction(api.app.state.platform.part(Mail).welcome)
