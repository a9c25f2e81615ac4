"""/health: the shape, the pulse, and settings without their secrets."""

from datetime import datetime, timedelta

import orjson
import pytest

from resources.clock import stamp
from tests.serving_api.conftest import ADMIN, Bench


def beat(bench: Bench, age_s: float, role: str = "worker", **state: object) -> None:
    at = stamp(bench.api.app.state.platform.system.local() - timedelta(seconds=age_s))
    node = "scheduler" if role == "scheduler" else f"{role}-{age_s}"
    warehouse = bench.warehouse()
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            warehouse.sql.insert(
                "sys_heartbeat", ("node_id", "role", "host", "pid", "started_at", "beat_at", "state_json")
            ),
            (
                node,
                role,
                "here",
                1,
                at,
                at,
                orjson.dumps(state).decode(),
            ),
        )
    warehouse.close()


def test_the_shape(own: Bench) -> None:
    answer = own.api.get("//health")
    body = answer.json()

    assert answer.headers["cache-control"] == "no-store"
    assert list(body) == [
        "status",
        "version",
        "role",
        "time",
        "db",
        "scheduler",
        "worker",
        "calendar",
        "config",
    ]
    assert body["time"] == "2026-08-21T15:30:00+08:00"
    assert body["calendar"] == {"horizon": "2026-12-31", "days_left": 132}
    assert body["db"]["ok"] is True
    assert body["worker"] == {"fresh": False, "beatAt": None}
    assert body["config"]["RATE_LIMIT_PER_MIN"] == 0
    assert body["config"]["ADMIN_SEED_PASSWORD"] == "***"
    assert ADMIN["password"] not in answer.text


@pytest.mark.parametrize(("age_s", "fresh"), [(0, True), (90, True), (91, False)])
def test_a_heartbeat_is_fresh_for_90_seconds(own_on_both: Bench, age_s: float, fresh: bool) -> None:
    beat(own_on_both, age_s)
    beat(own_on_both, 500)
    beat(own_on_both, 30, role="scheduler")
    beat(own_on_both, 0, role="web")

    body = own_on_both.api.get("//health").json()

    assert body["worker"]["fresh"] is fresh
    ticked = datetime.fromisoformat(body["scheduler"].pop("lastTickAt"))
    assert own_on_both.api.app.state.platform.system.local() - ticked.replace(tzinfo=None) == timedelta(
        seconds=30
    )
    assert body["scheduler"] == {"running": fresh}
    assert body["status"] == ("ok" if fresh else "degraded")


def test_without_a_database_it_answers_degraded(own: Bench) -> None:
    own.lose_database()

    answer = own.api.get("//health")

    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["db"]) == ("degraded", {"ok": False})
