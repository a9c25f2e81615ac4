"""Who may call what: the table of routes, the matrix of subjects, the order of refusals."""

import asyncio
import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from starlette.routing import Mount, Route

from core.errors import DeclarationError
from serving_api.app import create_app
from serving_api.auth.service import Accounts
from serving_api.framework.application import platform_routes
from serving_api.framework.permissions import Admin, Anyone, Login, Quota
from serving_api.framework.responses import Answer
from serving_api.framework.routing import PlatformRoute, area_router
from serving_api.mcp.mounted import Mounted
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, bearer, make_app, make_settings

# Written by hand from the matrix of the specification's API shapes; a route outside it fails.
RULES = {
    ("GET", "/health"): "anyone",
    ("POST", "/api/v1/market/change-detector/compare"): "login",
    ("POST", "/api/v1/auth/register"): "anyone",
    ("POST", "/api/v1/auth/login"): "anyone",
    ("GET", "/api/v1/auth/verify-email"): "anyone",
    ("GET", "/api/v1/auth/me"): "login",
    ("POST", "/api/v1/auth/profile"): "login",
    ("POST", "/api/v1/auth/change-password"): "login",
    ("POST", "/api/v1/auth/avatar"): "login",
    ("GET", "/api/v1/auth/avatar"): "login",
    ("GET", "/api/v1/datamgr/fusion/interfaces"): "anyone",
    ("GET", "/api/v1/decision-cards"): "anyone",
    ("GET", "/api/v1/decision-cards/stats"): "anyone",
    ("POST", "/api/v1/decision-cards/review"): "admin",
    ("POST", "/api/v1/notes/{kind}/generate"): "admin",
    ("POST", "/api/v1/analysis/{code}/run"): "quota",
    ("PUT", "/api/v1/analysis/{code}"): "admin",
    **dict.fromkeys(
        [
            ("POST", f"/api/v1/chat/{name}")
            for name in ("ask", "ask/stream", "analyze-stock", "quick-valuation", "batch-compare")
        ],
        "quota",
    ),
    ("POST", "/api/v1/chat/generate-title"): "login",
    ("GET", "/api/v1/chat/receipts/{receipt_id}"): "login",
    ("POST", "/api/v1/skills/install"): "admin",
    ("POST", "/api/v1/skills/{key}/uninstall"): "admin",
    ("POST", "/api/v1/skills/{key}/toggle"): "admin",
    ("POST", "/api/v1/datamgr/fusion/call"): "anyone",
    ("POST", "/api/v1/quant/recalc"): "admin",
    ("GET", "/api/v1/settings/menu-visibility"): "login",
    **{
        (method, f"{root}/mcp/{path}"): rule
        for root in ("", "/api/v1")
        for method, path, rule in (
            ("GET", "tools", "anyone"),
            ("POST", "tools/call", "anyone"),
            ("GET", "servers", "login"),
            ("POST", "servers", "login"),
            ("GET", "marketplace", "anyone"),
        )
    },
}
PREFIX_RULES = (
    ("/api/v1/stocks", "anyone"),
    ("/api/v1/index", "anyone"),
    ("/api/v1/industry", "anyone"),
    ("/api/v1/factor", "anyone"),
    ("/api/v1/macro", "anyone"),
    ("/api/v1/fusion", "anyone"),
    ("/api/v1/futures", "anyone"),
    ("/api/v1/datamgr", "admin"),
    ("/api/v1/tasks", "admin"),
    ("/api/v1/settings", "admin"),
    ("/api/v1/notifications", "anyone"),
    ("/api/v1/notes", "anyone"),
    ("/api/v1/skills", "anyone"),
    ("/api/v1/analysis", "anyone"),
    ("/api/v1/research", "login"),
    ("/api/v1/risk", "anyone"),
    ("/api/v1/convertible-bond", "anyone"),
    ("/api/v1/reit", "anyone"),
    ("/api/v1/fusion/fund", "anyone"),
    ("/api/v1/earnings-window", "anyone"),
    ("/api/v1/hk-finance", "anyone"),
    ("/api/v1/alt-sources", "anyone"),
    ("/api/v1/sectors", "anyone"),
    ("/api/v1/market", "anyone"),
    ("/api/v1/realtime", "anyone"),
    ("/api/v1/builtin-strategies", "anyone"),
    ("/api/v1/scorecard", "anyone"),
    ("/api/v1/screener", "anyone"),
    ("/api/v1/factor", "anyone"),
    ("/api/v1/quant", "anyone"),
)
DOCUMENTATION = {"/openapi.json", "/docs", "/docs/files"}
CONSOLE = {
    "/", "/console", "/console/", "/console/login", "/console/stock/", "/console/stock/{code}",
    "/console/today", "/console/data", "/console/market", "/console/screens", "/console/scorecards",
    "/console/ask",
    "/console/files/{version}/{name:path}", "/console/{rest:path}", "/console-session",
}  # fmt: skip
"""Pages without data of their own: their scripts ask the API, which decides."""

router = area_router("/api/v1/trial", "trial")


@router.get("/anyone")
async def for_anyone(call: Anyone) -> Answer:
    return Answer({"user": call.user})


@router.get("/login")
async def for_login(call: Login) -> Answer:
    return Answer({"user": call.member.username})


@router.post("/quota")
async def for_quota(call: Quota, body: dict[str, Any], n: int = 0) -> Answer:
    await call.count()
    return Answer({"user": call.member.username, "n": n})


@router.post("/admin")
async def for_admin(call: Admin, body: dict[str, Any], n: int) -> Answer:
    return Answer({"user": call.member.username})


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Bench]:
    """The app with one more area that has a route of every permission."""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    ticks = Ticks()
    app = make_app(url, tmp_path, ticks)
    app.include_router(router)
    with running(app) as api:
        yield Bench(api, ticks, url, tmp_path)


def expected_permission(method: str, path: str) -> str | None:
    rule = RULES.get((method, path))
    return rule or next((rule for prefix, rule in PREFIX_RULES if path.startswith(prefix)), None)


def test_every_route_has_the_permission_of_the_matrix(own: Bench) -> None:
    served = {
        (method, route.path): route.permission.name
        for route in platform_routes(own.api.app)
        for method in route.methods
    }

    assert {key: expected_permission(*key) for key in served} == served
    assert RULES.keys() <= served.keys()


def test_nothing_but_documentation_and_pages_stands_outside_the_areas(own: Bench) -> None:
    """And the mounted tool channel, which asks for a token where a tool belongs to a user."""
    others = [route for route in own.api.app.router.routes if not isinstance(route, PlatformRoute | Mounted)]

    assert {route.path for route in others if isinstance(route, Route | Mount)} == DOCUMENTATION | CONSOLE
    assert len(others) == len(DOCUMENTATION | CONSOLE)


def test_a_route_without_permission_cannot_be_declared() -> None:
    trial_router = area_router("/api/v1/x", "x")

    async def open_door() -> Answer:
        return Answer({})

    async def two_locks(one: Admin, two: Login) -> Answer:
        return Answer({})

    with pytest.raises(DeclarationError, match="open_door"):
        trial_router.get("/a")(open_door)
    with pytest.raises(DeclarationError, match="two_locks"):
        trial_router.get("/b")(two_locks)


def broken_tokens(bench: Bench, good: str) -> dict[str, str]:
    """Authorization headers that must count as none."""
    secret = (bench.folder / "secrets" / "jwt_secret").read_bytes()
    claims = jwt.decode(good, options={"verify_signature": False})

    def signed(key: bytes = secret, **change: Any) -> str:
        requested = {name: value for name, value in {**claims, **change}.items() if value is not None}
        return jwt.encode(requested, key, algorithm="HS256")

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    head, body, signature = good.split(".")
    return {
        "garbage": "Bearer not.a.token",
        "empty": "Bearer ",
        "basic": f"Basic {good}",
        "bare": good,
        "expired": f"Bearer {signed(exp=int(bench.ticks.wall()) - 1)}",
        "no expiry": f"Bearer {signed(exp=None)}",
        "issued tomorrow": f"Bearer {signed(iat=int(bench.ticks.wall()) + 86_400)}",
        "issued in a minute": f"Bearer {signed(iat=int(bench.ticks.wall()) + 60)}",
        "generation no number": f"Bearer {signed(gen='first')}",
        "alg none": f"Bearer {part({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        "alg none, signed": f"Bearer {part({'alg': 'none', 'typ': 'JWT'})}.{body}.{signature}",
        "HS512": f"Bearer {jwt.encode(claims, secret * 2, algorithm='HS512')}",
        "other key": f"Bearer {signed(key=b'k' * 32)}",
        "other issuer": f"Bearer {signed(iss='elsewhere')}",
        "other audience": f"Bearer {signed(aud='elsewhere')}",
        "no audience": f"Bearer {signed(aud=None)}",
        "unknown user": f"Bearer {signed(sub='4711')}",
        "subject no number": f"Bearer {signed(sub='admin')}",
        "changed body": f"Bearer {head}.{part({**claims, 'sub': '1'})}.{signature}",
    }


def test_bad_tokens_are_no_tokens(trial: Bench) -> None:
    trial.admin()
    good = trial.member()["Authorization"].removeprefix("Bearer ")
    refused = {
        name: trial.api.get("/trial/login", headers={"Authorization": header})
        for name, header in broken_tokens(trial, good).items()
    }

    assert {name: answer.status_code for name, answer in refused.items()} == dict.fromkeys(refused, 401)
    assert {answer.headers["www-authenticate"] for answer in refused.values()} == {"Bearer"}
    assert {answer.text for answer in refused.values()} == {'{"detail":"未登录或登录已失效"}'}
    assert trial.api.get("/trial/login", headers=bearer(good)).status_code == 200


def test_the_matrix_of_subjects(trial: Bench) -> None:
    nobody: dict[str, str] = {}
    wrong = bearer("not.a.token")
    member, admin = trial.member(), trial.admin()
    calls = {
        "anyone": lambda who: trial.api.get("/trial/anyone", headers=who),
        "login": lambda who: trial.api.get("/trial/login", headers=who),
        "quota": lambda who: trial.api.post("/trial/quota", json={}, headers=who),
        "admin": lambda who: trial.api.post("/trial/admin?n=1", json={}, headers=who),
    }

    found = {
        name: [call(who).status_code for who in (nobody, wrong, member, admin)]
        for name, call in calls.items()
    }

    assert found == {
        "anyone": [200, 200, 200, 200],
        "login": [401, 401, 200, 200],
        "quota": [401, 401, 200, 200],
        "admin": [401, 401, 403, 200],
    }
    refused = calls["admin"](member)
    assert refused.json() == {"detail": "需要管理员权限"}


def set_user(bench: Bench, name: str, **values: Any) -> None:
    warehouse = bench.warehouse()
    sets = ", ".join(f"{column}=?" for column in values)
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            warehouse.sql.text(f"UPDATE app_users SET {sets} WHERE username=?"), (*values.values(), name)
        )
    warehouse.close()


@pytest.mark.parametrize("status", ["disabled", "pending_approval", "pending_email"])
def test_a_token_dies_with_the_account(trial: Bench, status: str) -> None:
    member = trial.member()
    set_user(trial, "reader", status=status)

    assert trial.api.get("/trial/login", headers=member).status_code == 401
    assert trial.api.get("/trial/anyone", headers=member).status_code == 200


def test_a_changed_role_is_in_force_at_once(trial: Bench) -> None:
    member = trial.member()
    set_user(trial, "reader", role="admin")

    assert trial.api.post("/trial/admin?n=1", json={}, headers=member).status_code == 200


def test_permission_is_decided_before_body_and_parameters(trial: Bench) -> None:
    member = trial.member()
    broken = {"content": b"{not json", "headers": {"Content-Type": "application/json"}}

    def status(who: dict[str, str], query: str = "?n=x") -> int:
        headers = {**broken["headers"], **who}
        answer = trial.api.post(f"/trial/admin{query}", content=broken["content"], headers=headers)
        return answer.status_code

    assert status({}) == 401
    assert status(member) == 403
    assert status(trial.admin()) == 422


def test_a_body_is_not_read_for_a_stranger(trial: Bench) -> None:
    read: list[int] = []

    async def upload() -> Any:
        for at in range(3):
            read.append(at)
            yield b"x" * 10

    answer = trial.api.post(
        "/trial/admin?n=1", content=upload(), headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 401
    assert read == []


def test_ten_ai_calls_a_day(trial: Bench) -> None:
    member = trial.member()

    def call(query: str = "") -> int:
        return trial.api.post(f"/trial/quota{query}", json={}, headers=member).status_code

    assert [call("?n=x") for _ in range(3)] == [422] * 3  # not accepted, so not counted
    assert [call() for _ in range(11)] == [200] * 10 + [403]
    refused = trial.api.post("/trial/quota", content=b"{broken", headers=member)
    assert refused.status_code == 403
    assert "免费次数已用完" in refused.json()["detail"]
    assert "购买会员" in refused.json()["detail"]
    assert trial.api.get("/auth/me", headers=member).json()["ai_usage_count"] == 10
    trial.ticks.advance(86_400)
    assert call("") == 401  # the token has expired as well
    assert trial.api.get("/auth/me", headers=trial.member()).json()["ai_usage_count"] == 0
    assert trial.api.post("/trial/quota", json={}, headers=trial.member()).status_code == 200


def test_admin_and_activated_users_are_not_counted(trial: Bench) -> None:
    member, admin = trial.member(), trial.admin()
    set_user(trial, "reader", is_activated=1)

    for who in (member, admin):
        statuses = {trial.api.post("/trial/quota", json={}, headers=who).status_code for _ in range(12)}
        assert statuses == {200}
        quota = trial.api.get("/auth/me", headers=who).json()["ai_quota"]
        assert quota == {"used": 0, "limit": 10, "exempt": True}


def test_parallel_calls_cannot_pass_the_quota(own_on_both: Bench) -> None:
    own_on_both.member()
    set_user(own_on_both, "reader", ai_usage_count=9, ai_usage_date="2026-08-18")
    accounts = own_on_both.api.app.state.platform.part(Accounts)

    async def race() -> list[bool]:
        user = (await accounts.login("reader", "pass word 1", "10.0.0.1"))[1]
        return list(await asyncio.gather(*(accounts.count_call(user) for _ in range(20))))

    assert own_on_both.api.call(race).count(True) == 1


def test_the_rate_limit_comes_before_everything(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    ticks = Ticks()
    with running(make_app(url, tmp_path, ticks, rate_limit_per_min=3)) as api:
        statuses = [api.get("/auth/me").status_code for _ in range(4)]

    assert statuses == [401, 401, 401, 429]


def test_making_an_app_touches_neither_file_nor_database(tmp_path: Path) -> None:
    started = time.perf_counter()
    create_app(
        make_settings(tmp_path / "data"),
        warehouse_reader=market.open_warehouse(f"sqlite:///{tmp_path}/x.sqlite3", tmp_path, read_only=True),
        warehouse_writer=market.open_warehouse(f"sqlite:///{tmp_path}/x.sqlite3", tmp_path),
    )

    assert list(tmp_path.iterdir()) == []
    assert time.perf_counter() - started < 5
