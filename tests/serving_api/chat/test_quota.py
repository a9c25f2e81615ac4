"""Ten questions a day, counted once each, whatever comes at the same time."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from resources.warehouse.engine import transaction
from tests.serving_api.chat.served import Served, served

USED_UP = ("免费次数已用完", "购买会员")
COUNTED = ("ask", "ask/stream", "analyze-stock", "quick-valuation", "batch-compare")
BODIES = {
    "ask": {"message": "你好"}, "ask/stream": {"message": "你好"}, "analyze-stock": {"code": "600519"},
    "quick-valuation": {"code": "600519"}, "batch-compare": {"codes": ["600519", "601398"]},
    "generate-title": {"message": "你好"},
}  # fmt: skip


def set_user(one: Served, name: str, **values: object) -> None:
    sets = ", ".join(f"{column}=:{column}" for column in values)
    with transaction(one.warehouse.engine) as connection:
        connection.execute(
            sa.text(f"UPDATE app_users SET {sets} WHERE username=:name"), {**values, "name": name}
        )


def test_of_a_hundred_questions_at_nine_of_ten_one_passes(warehouse_url: str, tmp_path: Path) -> None:
    with served(warehouse_url, tmp_path) as one:
        who = one.member()
        today = one.app.state.platform.system.local().date().isoformat()
        set_user(one, "reader", ai_usage_count=9, ai_usage_date=today)
        limits = httpx.Limits(max_connections=50)
        with httpx.Client(base_url=one.url, headers=who, timeout=60, limits=limits, trust_env=False) as http:

            def ask(_: int) -> int:
                return http.post("/chat/ask", json=BODIES["ask"]).status_code

            with ThreadPoolExecutor(50) as pool:
                statuses = list(pool.map(ask, range(100)))
        assert (statuses.count(200), statuses.count(403)) == (1, 99)
        assert one.http.get("/auth/me", headers=who).json()["ai_usage_count"] == 10


def test_a_refused_stream_is_no_stream(plain: Served) -> None:
    who = plain.member("streamer")
    today = plain.app.state.platform.system.local().date().isoformat()
    set_user(plain, "streamer", ai_usage_count=10, ai_usage_date=today)
    for name in COUNTED:
        answer = plain.http.post(f"/chat/{name}", json=BODIES[name], headers=who)
        assert answer.status_code == 403, name
        assert answer.headers["content-type"] == "application/json"
        assert all(word in answer.json()["detail"] for word in USED_UP)
    assert (
        plain.http.post("/chat/generate-title", json=BODIES["generate-title"], headers=who).status_code == 200
    )
    set_user(plain, "streamer", is_activated=1)
    assert plain.http.post("/chat/ask", json=BODIES["ask"], headers=who).status_code == 200


def test_every_counted_route_counts_one(plain: Served) -> None:
    who = plain.member("counter")
    for at, name in enumerate(COUNTED, 1):
        assert plain.http.post(f"/chat/{name}", json=BODIES[name], headers=who).status_code == 200
        assert plain.http.get("/auth/me", headers=who).json()["ai_usage_count"] == at
    assert plain.http.post("/analysis/600519/run", headers=who).status_code == 200
    plain.http.post("/chat/ask", json={"message": ""}, headers=who)  # refused, so not counted
    assert plain.http.get("/auth/me", headers=who).json()["ai_usage_count"] == len(COUNTED) + 1


@pytest.mark.parametrize(("hours", "left"), [(0.0, 403), (1.0, 200)])
def test_the_count_ends_at_midnight_of_the_exchange(plain: Served, hours: float, left: int) -> None:
    """23:30 in Shanghai is the same day, half past midnight is the next; UTC's midnight says nothing."""
    began = plain.ticks.seconds
    name = f"late{int(hours)}"
    local = plain.app.state.platform.system.local()
    plain.ticks.advance(((23 - local.hour) * 60 + 30 - local.minute) * 60)
    try:
        who = plain.member(name)
        today = plain.app.state.platform.system.local().date().isoformat()
        set_user(plain, name, ai_usage_count=10, ai_usage_date=today)
        plain.ticks.advance(hours * 3600)
        assert plain.http.post("/chat/ask", json=BODIES["ask"], headers=who).status_code == left
    finally:
        plain.ticks.seconds = began
