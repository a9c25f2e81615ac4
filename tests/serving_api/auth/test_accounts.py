"""Accounts: registration, login, lockout, profile, password, avatar, seed admin, busy database."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import jwt
import pytest

from resources.secret_files import load_secret
from serving_api.auth.credentials import Passwords
from serving_api.auth.service import Accounts
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, Bench, Ticks, bearer, make_app

READER = {"username": "reader", "email": "Reader@Example.com", "password": "pass word 1"}
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100


def login(bench: Bench, username: str, password: str, **how: Any) -> Any:
    return bench.api.post("/auth/login", json={"username": username, "password": password}, **how)


def test_register_login_me(own_on_both: Bench) -> None:
    made = own_on_both.api.post("/auth/register", json=READER)
    assert made.status_code == 200
    assert made.json() == {
        "id": made.json()["id"],
        "username": "reader",
        "email": "reader@example.com",
        "role": "user",
        "status": "active",
        "email_verified": True,
        "message": "注册成功",
    }

    entered = login(own_on_both, "reader", "pass word 1").json()
    assert (entered["token_type"], entered["expires_in"]) == ("bearer", 86_400)
    assert entered["user"] == {
        "id": made.json()["id"],
        "username": "reader",
        "email": "reader@example.com",
        "role": "user",
        "status": "active",
        "avatar": None,
        "is_activated": False,
        "ai_usage_count": 0,
        "ai_usage_date": None,
    }

    me = own_on_both.api.get("/auth/me", headers=bearer(entered["access_token"]))
    assert me.headers["cache-control"] == "no-store"
    assert me.json()["ai_quota"] == {"used": 0, "limit": 10, "exempt": False}
    assert me.json()["last_login_at"] == f"{own_on_both.api.app.state.platform.system.local():%FT%T}+08:00"
    assert "password" not in me.text + made.text


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"username": "ab"}, "username: "),
        ({"username": "a b c"}, "username: "),
        ({"username": None}, "username: "),
        ({"email": "nobody"}, "email: "),
        ({"email": "a@b"}, "email: "),
        ({"password": "sh0rty!"}, "password: "),
        ({"password": "11111111"}, "password: is weak"),
        ({"password": "password" * 20}, "password: "),
        ({"username": "long-enough", "password": "Long-Enough"}, "body: the password is weak"),
    ],
)
def test_registration_names_what_is_wrong_without_repeating_it(
    own: Bench, change: dict[str, Any], detail: str
) -> None:
    answer = own.api.post("/auth/register", json={**READER, **change})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)
    assert all(set(problem) == {"loc", "msg", "type"} for problem in answer.json()["errors"])
    assert str(change.get("password") or "-" * 9) not in answer.text


@pytest.mark.parametrize(
    "change",
    [
        {"username": "READER", "email": "b@example.com"},
        {"username": "b-reader", "email": "READER@example.com"},
    ],
)
def test_names_and_addresses_are_taken_once(own_on_both: Bench, change: dict[str, str]) -> None:
    own_on_both.api.post("/auth/register", json=READER)

    answer = own_on_both.api.post("/auth/register", json={**READER, **change})

    assert answer.status_code == 409
    assert set(answer.json()) == {"detail"}


def test_parallel_registrations_make_one_account(own_on_both: Bench) -> None:
    client, url = own_on_both.api, "http://test/api/v1/auth/register"

    async def race() -> list[int]:
        answers = await asyncio.gather(*(client._client.post(url, json=READER) for _ in range(6)))
        return sorted(answer.status_code for answer in answers)

    assert own_on_both.api.call(race) == [200, 409, 409, 409, 409, 409]


def test_wrong_pair_and_unknown_user_read_the_same(own: Bench) -> None:
    wrong, unknown = login(own, "admin", "guess"), login(own, "nobody", "guess")

    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert wrong.content == unknown.content == '{"detail":"用户名或密码错误"}'.encode()
    assert wrong.headers["www-authenticate"] == "Bearer"


def test_five_failures_lock_the_pair_for_300_seconds(own: Bench) -> None:
    assert [login(own, "admin", "guess").status_code for _ in range(6)] == [401] * 5 + [429]
    locked = login(own, **ADMIN)
    assert locked.status_code == 429
    assert locked.headers["retry-after"] == "300"
    assert "300" in locked.json()["detail"]

    own.ticks.advance(299.5)
    assert login(own, **ADMIN).status_code == 429
    own.ticks.advance(1)
    assert login(own, **ADMIN).status_code == 200


def test_a_success_forgets_the_failures(own: Bench) -> None:
    for _ in range(3):
        assert [login(own, "admin", "guess").status_code for _ in range(4)] == [401] * 4
        assert login(own, **ADMIN).status_code == 200


def test_the_lock_is_of_one_name_and_ignores_its_case(own: Bench) -> None:
    own.member()
    for name in ("admin", "ADMIN", "Admin", "admin", "aDmin"):
        login(own, name, "guess")

    assert login(own, **ADMIN).status_code == 429
    assert login(own, "reader", "pass word 1").status_code == 200


def test_another_address_is_not_locked(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    app = make_app(url, tmp_path, Ticks(), trusted_proxies="10.0.0.0/8")
    with running(app) as api:
        bench = Bench(api, Ticks(), url, tmp_path)
        for _ in range(5):
            login(bench, "admin", "guess", headers={"X-Forwarded-For": "203.0.113.9"})

        assert login(bench, **ADMIN, headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 429
        assert login(bench, **ADMIN, headers={"X-Forwarded-For": "203.0.113.10"}).status_code == 200


def test_parallel_guesses_cannot_pass_the_count(own: Bench) -> None:
    url = "http://test/api/v1/auth/login"

    async def race() -> list[int]:
        guess = {"username": "admin", "password": "guess"}
        answers = await asyncio.gather(*(own.api._client.post(url, json=guess) for _ in range(20)))
        return sorted(answer.status_code for answer in answers)

    assert own.api.call(race) == [401] * 5 + [429] * 15


def test_an_inactive_account_is_revealed_only_with_the_right_password(own: Bench) -> None:
    own.member()
    warehouse = own.warehouse()
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE app_users SET status='disabled' WHERE username='reader'")
    warehouse.close()

    assert login(own, "reader", "guess").status_code == 401
    right = login(own, "reader", "pass word 1")
    assert (right.status_code, right.json()) == (403, {"detail": "账号未启用"})


def test_profile_changes_what_is_given(own_on_both: Bench) -> None:
    member = own_on_both.member()

    answer = own_on_both.api.post("/auth/profile", json={"phone": "+86 138-0000-0000"}, headers=member)
    assert answer.status_code == 200
    assert answer.json()["user"]["phone"] == "+86 138-0000-0000"

    answer = own_on_both.api.post("/auth/profile", json={"phone": ""}, headers=member)

    assert answer.json()["user"]["phone"] is None
    assert answer.json()["user"]["username"] == "reader"

    taken = own_on_both.api.post("/auth/profile", json={"username": "admin"}, headers=member)
    assert taken.status_code == 409
    own_name = own_on_both.api.post("/auth/profile", json={"username": "Reader"}, headers=member)
    assert own_name.json()["user"]["username"] == "Reader"


def test_change_password(own: Bench) -> None:
    member = own.member()

    def change(old: str, new: str) -> Any:
        body = {"old_password": old, "new_password": new}
        return own.api.post("/auth/change-password", json=body, headers=member)

    wrong = change("guess", "another pass")
    assert (wrong.status_code, set(wrong.json())) == (400, {"detail"})
    assert change("pass word 1", "short").status_code == 422
    assert change("pass word 1", "another pass").status_code == 200
    assert login(own, "reader", "pass word 1").status_code == 401
    assert login(own, "reader", "another pass").status_code == 200


def test_a_new_password_ends_the_tokens_of_the_old_one(own_on_both: Bench) -> None:
    own = own_on_both
    member, elsewhere = own.member(), bearer(own.login("reader", "pass word 1"))
    other = own.member("bystander")

    body = {"old_password": "pass word 1", "new_password": "another pass"}
    answer = own.api.post("/auth/change-password", json=body, headers=member)

    assert [own.api.get("/auth/me", headers=one).status_code for one in (member, elsewhere)] == [401, 401]
    assert own.api.get("/auth/me", headers=other).status_code == 200
    # Whoever changed it goes on with the token of the answer, in the same second too.
    assert own.api.get("/auth/me", headers=bearer(answer.json()["access_token"])).status_code == 200
    assert own.api.get("/auth/me", headers=bearer(own.login("reader", "another pass"))).status_code == 200
    assert answer.json()["expires_in"] == 86_400


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0" + b"0" * 50, "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_an_avatar_is_known_by_its_content(own: Bench, content: bytes, media_type: str) -> None:
    member = own.member()

    answer = own.api.post("/auth/avatar", files={"file": ("x.txt", content, "text/plain")}, headers=member)
    assert answer.status_code == 200
    address = answer.json()["avatar"]
    image = own.api.get(address.removeprefix("/api/v1"), headers=member)
    assert (image.content, image.headers["content-type"]) == (content, media_type)
    assert own.api.get("/auth/me", headers=member).json()["avatar"] == address


@pytest.mark.parametrize(
    "content", [b"GIF89a", b"<svg/>", b"", PNG + b"0" * 2 * 1024 * 1024, PNG + b"0" * 5_000_000]
)
def test_other_uploads_are_refused(own: Bench, content: bytes) -> None:
    answer = own.api.post(
        "/auth/avatar", files={"file": ("x.png", content, "image/png")}, headers=own.member()
    )

    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("file: ")


def test_without_a_token_every_request_is_401(own: Bench) -> None:
    answer = own.api.post("/auth/avatar", files={"file": ("x.png", PNG + b"0" * 5_000_000, "image/png")})

    assert answer.status_code == 401


def test_a_body_over_the_limit_is_422(own: Bench) -> None:
    answer = own.api.post("/auth/login", json={"username": "a", "password": "b" * 2_000_000})

    assert (answer.status_code, answer.json()["detail"]) == (422, "body: larger than allowed")


def test_a_missing_upload_is_422_and_an_avatar_that_is_not_there_404(own: Bench) -> None:
    member = own.member()

    assert own.api.post("/auth/avatar", headers=member).status_code == 422
    assert own.api.get("/auth/avatar", headers=member).status_code == 404


def test_verify_email_never_works(own: Bench) -> None:
    for query in ("?token=x", f"?token={'x' * 2000}", "?token=", ""):
        answer = own.api.get(f"/auth/verify-email{query}")
        assert (answer.status_code, list(answer.json())) == (400, ["detail"])


def test_a_token_lasts_as_long_as_configured(own: Bench) -> None:
    member = own.member()

    own.ticks.advance(86_399)
    assert own.api.get("/auth/me", headers=member).status_code == 200
    own.ticks.advance(2)
    assert own.api.get("/auth/me", headers=member).status_code == 401


def test_a_write_beside_a_busy_database_is_503(own: Bench) -> None:
    warehouse = own.warehouse()
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE sys_domain_lock SET owner=owner")
        answer = own.api.post("/auth/register", json=READER)
    warehouse.close()

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert set(answer.json()) == {"detail"}
    assert "locked" not in answer.text
    assert own.api.post("/auth/register", json=READER).status_code == 200


def test_known_users_log_in_and_read_while_nothing_can_be_written(own_on_both: Bench) -> None:
    own_on_both.member("known")
    other = own_on_both.warehouse(pool={"wait_s": 1})
    with other.engine.connect() as holder:
        if other.sqlite:
            holder.exec_driver_sql("SELECT 1")  # opens BEGIN IMMEDIATE: the writer's lock
        else:
            holder.exec_driver_sql("SELECT * FROM app_users FOR UPDATE")

        entered = login(own_on_both, "known", "pass word 1")
        assert entered.status_code == 200
        me = own_on_both.api.get("/auth/me", headers=bearer(entered.json()["access_token"]))
    other.close()

    assert (me.status_code, me.json()["username"]) == (200, "known")


@pytest.mark.parametrize("subject", ["1" * 40, "-1", "0", "1e3", "one"])
def test_a_signed_token_of_an_unknown_user_is_401(own: Bench, subject: str) -> None:
    tokens = own.api.app.state.platform.part(Accounts).tokens
    issued = jwt.decode(tokens.issue(1, "admin", 0), options={"verify_signature": False})
    secret = load_secret(own.folder / "secrets" / "jwt_secret")
    token = jwt.encode({**issued, "sub": subject}, secret, algorithm="HS256")

    assert own.api.get("/auth/me", headers=bearer(token)).status_code == 401


def test_guarded_routes_without_a_database_are_503(own: Bench) -> None:
    member = own.member()
    own.lose_database()

    assert own.api.get("/auth/me", headers=member).status_code == 503
    assert own.api.get("/auth/me").status_code == 401


def test_the_seed_admin_is_created_once_and_not_changed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    with running(make_app(url, tmp_path, Ticks())) as api:
        assert login(Bench(api, Ticks(), url, tmp_path), **ADMIN).json()["user"]["role"] == "admin"
    with running(make_app(url, tmp_path, Ticks(), admin_seed_password="other password")) as api:
        bench = Bench(api, Ticks(), url, tmp_path)
        assert login(bench, **ADMIN).status_code == 200
        assert login(bench, "admin", "other password").status_code == 401


def test_no_seed_password_no_admin(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    with running(make_app(url, tmp_path, Ticks(), admin_seed_password="")) as api:
        assert login(Bench(api, Ticks(), url, tmp_path), "admin", "").status_code == 401


def test_welcome_runs_behind_the_answer(own: Bench) -> None:
    welcomed: list[str] = []
    own.api.app.state.platform.part(Accounts).on_registered = lambda user: welcomed.append(user.email)

    own.api.post("/auth/register", json=READER)

    assert welcomed == ["reader@example.com"]


def test_the_secret_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "jwt_secret"

    first = load_secret(path)

    assert len(first) == 32
    assert load_secret(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [item.name for item in path.parent.iterdir()] == ["jwt_secret"]


def test_a_damaged_secret_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jwt_secret"
    path.write_bytes(b"short")

    with pytest.raises(Exception, match="holds 5 bytes"):
        load_secret(path)


def test_password_hashes_have_the_cost_of_the_specification() -> None:
    passwords = Passwords()
    stored = passwords.hash("pass word 1")

    name, iterations, salt, key = stored.split("$")
    assert (name, iterations, len(salt), len(key)) == ("pbkdf2_sha256", "200000", 24, 44)
    assert passwords.verify("pass word 1", stored)
    assert not passwords.verify("pass word 2", stored)


@pytest.mark.parametrize("stored", [None, "", "plain", "a$b$c$d", "pbkdf2_sha256$1$?$?"])
def test_damaged_hashes_match_nothing(stored: str | None) -> None:
    assert not Passwords(iterations=1).verify("", stored)


def test_hashes_of_equal_passwords_differ() -> None:
    passwords = Passwords(iterations=1)
    assert passwords.hash("x") != passwords.hash("x")
