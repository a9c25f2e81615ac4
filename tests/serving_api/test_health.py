"""/health: the shape, the pulse, and settings without their secrets."""

import json
import threading
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from core.clock import local_iso, stamp
from core.errors import DiskFull
from serving_api.health.service import surroundings_of
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
        "problems",
        "version",
        "role",
        "time",
        "db",
        "disk",
        "scheduler",
        "worker",
        "processes",
        "calendar",
        "config",
    ]
    assert body["time"] == "2026-08-21T15:30:00+08:00"
    assert body["calendar"] == {"horizon": "2026-12-31", "days_left": 132}
    assert (body["db"]["ok"], body["db"]["writable"]) == (True, True)
    assert body["disk"]["free_mb"] > 0
    assert body["processes"] == []
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
    idle = "the market clock is frozen at 2026-08-21 15:30"
    assert body["scheduler"] == {"running": True, "idle": idle, "daemonBeatAt": None}
    assert body["db"]["writable"] is True
    assert body["problems"] == ([] if fresh else ["the worker is silent"])
    assert body["status"] == ("ok" if fresh else "degraded")


def test_without_a_database_it_answers_degraded(own: Bench) -> None:
    own.lose_database()

    answer = own.api.get("//health")

    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    assert answer.json()["db"] == {"ok": False, "writable": False, "reason": "busy_or_away"}
    assert "the database cannot be read" in answer.json()["problems"]


def surroundings(bench: Bench) -> Any:
    return bench.api.app.state.platform.parts[surroundings_of]


def healthy(bench: Bench) -> None:
    beat(bench, 0)
    beat(bench, 0, role="scheduler")


def test_a_foreign_write_lock_is_reported_and_cached_for_five_seconds(own_on_both: Bench) -> None:
    healthy(own_on_both)
    holder = own_on_both.warehouse()
    with holder.engine.connect() as connection:
        if holder.sqlite:
            connection.exec_driver_sql("SELECT 1")  # opens BEGIN IMMEDIATE: the writer's lock
        else:
            connection.exec_driver_sql("LOCK TABLES sys_heartbeat READ")
        body = own_on_both.api.get("//health").json()
        if not holder.sqlite:
            connection.exec_driver_sql("UNLOCK TABLES")
    holder.close()

    assert (body["status"], body["problems"]) == ("degraded", ["the database cannot be written"])
    assert (body["db"]["ok"], body["db"]["writable"], body["db"]["reason"]) == (True, False, "busy_or_away")
    own_on_both.ticks.advance(4)
    assert own_on_both.api.get("//health").json()["db"]["writable"] is False
    own_on_both.ticks.advance(2)
    assert own_on_both.api.get("//health").json()["status"] == "ok"


def test_a_full_disk_is_named(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    own.warehouse().migrate()
    healthy(own)

    def full() -> float:
        raise DiskFull("the disk is full: database or disk is full")

    monkeypatch.setattr(surroundings(own), "_write", full)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=3_000_000))
    body = own.api.get("//health").json()

    assert body["status"] == "degraded"
    assert body["problems"] == ["the disk of the database is full", "only 3 MB of disk are free"]
    assert body["db"]["reason"] == "disk_full"
    assert body["disk"] == {"ok": False, "free_mb": 3}


def test_a_hanging_write_does_not_block_requests(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    own.warehouse().migrate()
    healthy(own)
    go_on = threading.Event()
    monkeypatch.setattr("serving_api.health.service.WAIT_S", 0.05)
    monkeypatch.setattr(surroundings(own), "_write", lambda: float(go_on.wait(10)))

    body = own.api.get("//health").json()
    go_on.set()

    assert body["problems"] == ["the database cannot be written"]


def test_the_scheduler_is_the_daemon_and_not_the_worker(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    own.warehouse().migrate()
    healthy(own)
    now = own.ticks.wall()
    beats: dict[str, float | None] = {"SCHEDULER": now - 10, "SENSOR": now - 170}
    monkeypatch.setattr(surroundings(own), "_beats", lambda: beats)
    body = own.api.get("//health").json()
    assert (body["status"], body["scheduler"]["running"]) == ("ok", True)
    assert body["scheduler"]["daemonBeatAt"] == local_iso(
        own.api.app.state.platform.system.local() - timedelta(seconds=170)
    )

    beats["SENSOR"] = now - 190
    own.ticks.advance(6)
    body = own.api.get("//health").json()
    assert body["worker"]["fresh"] is True
    assert (body["scheduler"]["running"], body["problems"]) == (False, ["the scheduler is silent"])


def test_each_process_is_shown_and_one_that_keeps_ending_is_no_scheduler(own: Bench) -> None:
    own.warehouse().migrate()
    healthy(own)
    fine = {"pid": 7, "state": "running", "since": "2026-08-18 10:00:00", "restarts": 0, "last_exit": None}
    looping = {**fine, "restarts": 4, "last_exit": 1, "in_loop": True}
    facts = {"processes": {"worker": {**fine, "in_loop": False}, "dagster_daemon": looping}}
    (own.folder / "run.json").write_text(json.dumps(facts))
    body = own.api.get("//health").json()

    assert [one["name"] for one in body["processes"]] == ["worker", "dagster_daemon"]
    assert body["processes"][0] == {
        "name": "worker",
        **fine,
        "since": "2026-08-18T10:00:00+08:00",
        "in_loop": False,
    }
    assert body["scheduler"]["running"] is False
    assert body["problems"] == ["dagster_daemon keeps ending", "the scheduler is silent"]

    looping["state"] = "restarting"
    (own.folder / "run.json").write_text(json.dumps(facts))
    own.ticks.advance(6)
    assert "dagster_daemon is restarting" in own.api.get("//health").json()["problems"]
