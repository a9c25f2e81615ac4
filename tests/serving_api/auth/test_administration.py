"""Accounts as administrators list and change them, and who may not come in: look-alikes, common passwords,
one address that tries many names."""

import asyncio
from typing import Any

import jwt
import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from core.errors import PlatformError
from resources.secret_files import load_secret
from serving_api.auth.credentials import MAX_OF_ADDRESS, MAX_OF_NAME, Lockout
from tests.serving_api.conftest import ADMIN, Bench, Ticks, bearer


def registered(bench: Bench, name: str, password: str = "pass word 1") -> Any:
    body = {"username": name, "email": f"{abs(hash(name))}@example.com", "password": password}
    return bench.api.post("/auth/register", json=body)


def entered(bench: Bench, name: str, password: str = "pass word 1") -> int:
    status: int = bench.api.post("/auth/login", json={"username": name, "password": password}).status_code
    return status


def test_an_account_is_disabled_activated_and_gets_a_password(own_on_both: Bench) -> None:
    bench, admin = own_on_both, own_on_both.admin()
    member = bench.member("reader")
    (reader, _) = bench.api.get("/datamgr/users", headers=admin).json()["results"]
    path = f"/datamgr/users/{reader['id']}"

    changed = bench.api.post(f"{path}/status", json={"status": "disabled"}, headers=admin)
    assert changed.json()["results"]["status"] == "disabled"
    assert bench.api.get("/auth/me", headers=member).status_code == 401
    assert entered(bench, "reader") == 403
    listed = bench.api.get("/datamgr/users", params={"status": "disabled"}, headers=admin).json()
    assert (listed["total"], listed["results"][0]["username"]) == (1, "reader")

    bench.api.post(f"{path}/status", json={"status": "active"}, headers=admin)
    assert bench.api.get("/auth/me", headers=member).status_code == 200
    reset = bench.api.post(f"{path}/password", json={"password": "battery staple"}, headers=admin)
    assert "password" not in reset.json()["results"]
    assert bench.api.get("/auth/me", headers=member).status_code == 401
    assert (entered(bench, "reader"), entered(bench, "reader", "battery staple")) == (401, 200)


def test_the_last_administrator_stays(own: Bench) -> None:
    admin = own.admin()
    (only,) = own.api.get("/datamgr/users", params={"keyword": "ADMIN"}, headers=admin).json()["results"]

    refused = own.api.post(f"/datamgr/users/{only['id']}/status", json={"status": "disabled"}, headers=admin)
    assert refused.status_code == 409
    assert entered(own, ADMIN["username"], ADMIN["password"]) == 200


def test_what_is_wrong_with_a_change_is_named(own: Bench) -> None:
    admin, member = own.admin(), own.member("reader")
    unknown = own.api.post("/datamgr/users/99/status", json={"status": "active"}, headers=admin)
    weak = own.api.post("/datamgr/users/1/password", json={"password": "password1"}, headers=admin)
    status = own.api.post("/datamgr/users/1/status", json={"status": "deleted"}, headers=admin)
    assert [one.status_code for one in (unknown, weak, status)] == [404, 422, 422]
    assert weak.json()["detail"].startswith("password: is weak: it is one of the commonest")
    for how in ({}, member):
        assert own.api.get("/datamgr/users", headers=how).status_code in {401, 403}


@pytest.mark.parametrize(
    "name", ["аdmin", "ｒｅａｄｅｒ", "re\u200dader", "reader\u0301", "ｱｲｳｴ", "αdmin", "ádmin"]
)
def test_a_name_that_looks_like_another_is_refused(own: Bench, name: str) -> None:
    """Of another alphabet, in full width, with marks that nobody sees."""
    answer = registered(own, name)
    assert (answer.status_code, answer.json()["detail"][:9]) == (422, "username:")


def test_a_name_is_the_same_in_any_case(own_on_both: Bench) -> None:
    assert registered(own_on_both, "Reader").status_code == 200
    assert registered(own_on_both, "rEADER").status_code == 409
    assert [entered(own_on_both, name) for name in ("Reader", "reader", "READER")] == [200] * 3
    assert registered(own_on_both, "价值投资者").status_code == 200


@pytest.mark.parametrize(
    "password", ["password1", "Password1", "qwertyuiop", "1q2w3e4r", "iloveyou", "football"]
)
def test_a_common_password_is_refused(own: Bench, password: str) -> None:
    assert registered(own, "reader", password).json()["detail"].startswith("password: is weak")


def test_the_ten_thousand_commonest_are_refused() -> None:
    from serving_api.auth.schemas import _commonest_passwords

    assert set(FREQUENCY_LISTS["passwords"][:10_000]) <= _commonest_passwords()


def test_a_token_does_not_count_before_its_time(own: Bench) -> None:
    token = own.login(**ADMIN)
    claims = jwt.decode(token, options={"verify_signature": False})
    secret = load_secret(own.folder / "secrets" / "jwt_secret")
    for later, status in ((-60, 200), (3600, 401)):
        moved = jwt.encode({**claims, "nbf": claims["iat"] + later}, secret, algorithm="HS256")
        assert own.api.get("/auth/me", headers=bearer(moved)).status_code == status


def test_one_address_tries_twenty_names(own: Bench) -> None:
    statuses = [entered(own, f"user{number}") for number in range(80)]
    assert statuses == [401] * MAX_OF_ADDRESS + [429] * (80 - MAX_OF_ADDRESS)
    own.ticks.advance(301)
    assert entered(own, ADMIN["username"], ADMIN["password"]) == 200


def test_the_login_of_the_console_counts_with_it(own: Bench) -> None:
    def at_console(name: str) -> str:
        answer = own.api.post(
            "//console-session",
            data={"username": name, "password": "wrong"},
            headers={"sec-fetch-site": "same-origin"},
            follow_redirects=False,
        )
        return str(answer.headers["location"])

    places = [at_console(f"user{number}") for number in range(MAX_OF_ADDRESS + 1)]
    assert places[-1].endswith("refused=429")
    assert entered(own, "another") == 429


async def _tried(lockout: Lockout, pairs: list[tuple[str, str]]) -> int:
    """How many of these attempts, all at once, reach the check of the password."""
    checked = 0

    async def attempt(address: str, name: str) -> None:
        nonlocal checked
        try:
            async with lockout.attempt(address, name):
                checked += 1
                await asyncio.sleep(0.01)
        except PlatformError:
            pass

    await asyncio.gather(*(attempt(*pair) for pair in pairs))
    return checked


def test_attempts_at_once_do_not_pass_the_counts() -> None:
    ticks = Ticks()
    one_address = [("198.51.100.7", f"user{number}") for number in range(80)]
    one_name = [(f"198.51.100.{number}", "admin") for number in range(200)]

    assert asyncio.run(_tried(Lockout(ticks.wall), one_address)) == MAX_OF_ADDRESS
    assert asyncio.run(_tried(Lockout(ticks.wall), one_name)) == MAX_OF_NAME
