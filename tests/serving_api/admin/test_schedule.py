"""The task table over HTTP: reads, runs by hand, switches and times, on both engines."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from core.calendar import shipped_calendar
from platform_assets.task_table import TASKS as ALL_TASKS
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.ledger.heartbeats import Heartbeats, this_node
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger
from resources.warehouse.ledger.tasks import ScheduledRun, Task, Timing
from resources.warehouse.ledger.tasks_state import TaskTable
from serving_api.admin.schedule.control import day_of_run
from tests.serving_api.admin.conftest import TODAY, FetchContext, opened_context
from tests.serving_api.admin.dagster_double import Switches, serving_switches

KLINE = Task(
    key="fusion_kline_sync", name="行情K线融合", timing=Timing(hm=1540), max_retries=1, retry_delay_s=300
)
QUANT = Task(key="quant_calc", name="指标", timing=Timing(hm=1730), after=("fusion_kline_sync",))
NEWS = Task(key="news_sync", name="新闻", timing=Timing(hm=1700), trading_day_only=False)
MONITOR = Task(
    key="portfolio_mon",
    name="自选监控",
    timing=Timing(every_minutes=30, windows=((930, 1130), (1300, 1500))),
    partitioned=False,
)
CLEANUP = Task(
    key="data_cleanup",
    name="清理",
    timing=Timing(hm=430, weekday=0),
    trading_day_only=False,
    partitioned=False,
)
CORE = Task(key="eod_core", name="收盘核心", timing=Timing())
TASKS = (KLINE, QUANT, NEWS, MONITOR, CLEANUP, CORE)


@pytest.fixture
def planned(bare: FetchContext) -> FetchContext:
    TaskTable(bare.warehouse.engine).publish(TASKS)
    return bare


@pytest.fixture
def switches() -> Iterator[Switches]:
    with serving_switches([task.key for task in TASKS if task.timing.timed]) as served:
        yield served


@pytest.fixture
def switched(planned: FetchContext, switches: Switches) -> Iterator[FetchContext]:
    """The app beside a webserver of Dagster's."""
    with opened_context(
        planned.warehouse, planned.folder, planned.clock, dagster_port=switches.port
    ) as opened:
        yield opened


def slots_of(ctx: FetchContext) -> ScheduledRunLedger:
    return ScheduledRunLedger(ctx.warehouse.engine)


def ended(
    ctx: FetchContext, task: Task, due: str, status: str, run_id: str, reason: str | None = None
) -> None:
    """A slot that ran."""
    slots = slots_of(ctx)
    slot = task.scheduled_run(datetime.fromisoformat(due))
    assert slots.claim(slot, "tick", trade_date=slot.day)
    slots.begin(task.key, slot.name, run_id, now=datetime.fromisoformat(due))
    slots.finish(run_id, status, now=datetime.fromisoformat(due) + timedelta(seconds=90), reason=reason)


def task_item(ctx: FetchContext, key: str) -> Any:
    return next(item for item in ctx.results("/datamgr/schedule") if item["key"] == key)


# -- the table --------------------------------------------------------------------------------------


def test_every_published_task_is_listed_in_its_order(planned: FetchContext) -> None:
    answer = planned.get("/datamgr/schedule").json()

    assert [item["key"] for item in answer["results"]] == [task.key for task in TASKS]
    assert answer["stats"]["total"] == len(TASKS)


def test_a_task_is_shown_as_it_is_in_force(planned: FetchContext) -> None:
    assert task_item(planned, "fusion_kline_sync") == {
        "key": "fusion_kline_sync",
        "name": "行情K线融合",
        "enabled": True,
        "triggerHm": 1540,
        "time": "15:40",
        "cron": "40 15 * * *",
        "tradingDayOnly": True,
        "dependsOn": [],
        "maxRetries": 1,
        "retryDelaySec": 300,
        "running": False,
        "lastRunAt": None,
        "lastStatus": None,
        # It is Friday 15:45: the next slot is on Monday.
        "nextRunAt": "2026-08-24T15:40:00+08:00",
        "note": "",
    }
    assert task_item(planned, "quant_calc")["dependsOn"] == ["fusion_kline_sync"]


@pytest.mark.parametrize(
    ("key", "now", "expected"),
    [
        ("news_sync", "2026-08-22T17:30", "2026-08-23T17:00:00+08:00"),
        ("fusion_kline_sync", "2025-09-30T16:00", "2025-10-09T15:40:00+08:00"),  # over the holidays
        ("portfolio_mon", "2026-08-21T11:30", "2026-08-21T13:00:00+08:00"),
        ("data_cleanup", "2026-08-21T12:00", "2026-08-24T04:30:00+08:00"),
        ("eod_core", "2026-08-21T12:00", None),
        ("fusion_kline_sync", "2026-12-31T16:00", "2027-01-04T15:40:00+08:00"),  # of provisional days
        ("fusion_kline_sync", "2099-12-31T16:00", None),  # beyond the calendar nobody knows
    ],
)
def test_the_next_run_follows_calendar_and_hours(
    planned: FetchContext, key: str, now: str, expected: str | None
) -> None:
    planned.clock.at = datetime.fromisoformat(now)

    assert task_item(planned, key)["nextRunAt"] == expected


def test_the_last_run_and_a_running_one_are_shown(planned: FetchContext) -> None:
    ended(planned, KLINE, "2026-08-20T15:40", "failed", "run-1", "no bars")
    slot = NEWS.scheduled_run(datetime.fromisoformat("2026-08-20T17:00"))
    slots_of(planned).claim(slot, "tick", trade_date="2026-08-20")
    slots_of(planned).begin("news_sync", slot.name, "run-2", now=slot.due)

    kline, news = task_item(planned, "fusion_kline_sync"), task_item(planned, "news_sync")

    assert (kline["lastRunAt"], kline["lastStatus"], kline["running"]) == (
        "2026-08-20T15:40:00+08:00",
        "failed",
        False,
    )
    assert (news["lastStatus"], news["running"]) == ("running", True)


def test_a_warehouse_without_task_table_has_an_empty_schedule(bare: FetchContext) -> None:
    assert bare.results("/datamgr/schedule") == []


# -- status -----------------------------------------------------------------------------------------


def test_nothing_beats_nothing_runs(planned: FetchContext) -> None:
    found = planned.results("/datamgr/schedule/status")

    assert found["running"] is False
    assert (found["tickSeconds"], found["role"]) == (30, "all")
    assert found["heartbeat"] == {"nodeId": None, "beatAt": None, "fresh": False}
    assert found["locks"] == {
        name: {"held": False, "holder": None, "since": None} for name in ("daily", "kline", "wide")
    }
    assert found["runningTasks"] == []


def test_a_beating_worker_is_fresh_for_90_seconds(planned: FetchContext) -> None:
    state = planned.api.app.state.platform
    now = state.system.local()
    node = replace(this_node("worker"), started_at=now)
    Heartbeats(planned.warehouse.engine).beat(node)
    beats = "UPDATE sys_heartbeat SET beat_at=?"

    planned.execute(beats, f"{now - timedelta(seconds=90):%Y-%m-%d %H:%M:%S.%f}")
    fresh = planned.results("/datamgr/schedule/status")
    planned.execute(beats, f"{now - timedelta(seconds=91):%Y-%m-%d %H:%M:%S.%f}")
    old = planned.results("/datamgr/schedule/status")

    assert (fresh["running"], fresh["heartbeat"]["fresh"]) == (True, True)
    assert fresh["heartbeat"]["nodeId"] == node.node_id
    assert (old["running"], old["heartbeat"]["fresh"]) == (False, False)


def test_a_held_lock_names_its_holder(planned: FetchContext) -> None:
    locks = planned.warehouse.locks
    lease = locks.take(["kline"], "command:7")

    held = planned.results("/datamgr/schedule/status")["locks"]
    locks.release(lease)

    assert (held["kline"]["held"], held["kline"]["holder"]) == (True, "command:7")
    since = datetime.fromisoformat(held["kline"]["since"])
    assert abs((datetime.now(since.tzinfo) - since).total_seconds()) < 60
    assert held["daily"]["held"] is False


def test_the_day_is_counted(planned: FetchContext) -> None:
    planned.clock.at = datetime(2026, 8, 21, 14, 45)
    ended(planned, MONITOR, "2026-08-21T09:30", "success", "run-1")
    ended(planned, MONITOR, "2026-08-21T10:00", "partial", "run-2")
    ended(planned, MONITOR, "2026-08-21T10:30", "failed", "run-3")
    for due in ("2026-08-21T11:00", "2026-08-21T11:30"):
        slot = MONITOR.scheduled_run(datetime.fromisoformat(due))
        slots_of(planned).set_aside(slot, "missed", "the scheduler was away", trade_date=TODAY)
    for number, job in enumerate(("kline_daily", "fusion_codes", "download")):  # no tasks of the day
        at = planned.clock.at
        slots_of(planned).by_hand(job, at=at, trade_date=TODAY, command_id=90 + number, run_id=f"x-{number}")

    today = planned.results("/datamgr/schedule/status")["today"]

    # To come: the monitor's slot at 15:00, bars, news and indicators.
    assert today == {"success": 2, "failed": 1, "skipped": 2, "pending": 4}


# -- a run by hand ----------------------------------------------------------------------------------


def ask(ctx: FetchContext, key: str, **body: Any) -> Any:
    return ctx.send("POST", f"/datamgr/schedule/{key}/run", json=body or None)


def test_a_run_is_a_command_for_the_newest_complete_day(planned: FetchContext) -> None:
    answer = ask(planned, "fusion_kline_sync")

    assert answer.status_code == 200
    found = answer.json()["results"]
    assert (found["status"], found["key"], found["runId"]) == ("accepted", "fusion_kline_sync", None)
    command = CommandQueue(planned.warehouse.engine).get(found["commandId"])
    assert (command.command, command.status, command.requested_by) == ("run_job", "queued", "admin")
    assert command.args == {"job": "fusion_kline_sync", "partition_key": TODAY, "trigger": "manual"}


def test_a_task_of_several_dates_is_run_for_a_range(planned: FetchContext) -> None:
    late = Task("exchange_sync", "交易所数据同步", Timing(hm=1810), dates=10)
    TaskTable(planned.warehouse.engine).publish((late,))

    command_id = ask(planned, "exchange_sync").json()["results"]["commandId"]

    args = CommandQueue(planned.warehouse.engine).get(command_id).args
    assert args == {
        "job": "exchange_sync",
        "partition_range": [shipped_calendar().last(10, TODAY)[0], TODAY],
        "trigger": "manual",
    }


def test_the_id_of_a_started_run_is_returned(planned: FetchContext) -> None:
    settings = {"command_wait_sec": 1.0}
    queue = CommandQueue(planned.warehouse.engine)

    def work() -> None:
        command = None
        while command is None:
            command = queue.claim("worker")
        queue.progress(command, {"stage": "started"}, run_id="run-9")

    with (
        opened_context(planned.warehouse, planned.folder, planned.clock, **settings) as patient,
        ThreadPoolExecutor(1) as pool,
    ):
        working = pool.submit(work)
        found = ask(patient, "fusion_kline_sync").json()["results"]
        working.result()

    assert (found["status"], found["runId"]) == ("accepted", "run-9")


def test_a_task_without_partitions_takes_no_date(planned: FetchContext) -> None:
    command_id = ask(planned, "data_cleanup").json()["results"]["commandId"]

    assert CommandQueue(planned.warehouse.engine).get(command_id).args == {
        "job": "data_cleanup",
        "trigger": "manual",
    }


def test_a_task_that_was_asked_for_is_refused_a_second_time(planned: FetchContext) -> None:
    first = ask(planned, "fusion_kline_sync")

    second = ask(planned, "fusion_kline_sync")
    other = ask(planned, "news_sync")
    forced = ask(planned, "fusion_kline_sync", force=True)

    assert second.status_code == 409
    assert str(first.json()["results"]["commandId"]) in second.json()["detail"]
    assert (other.status_code, forced.status_code) == (200, 200)


def test_a_task_at_work_is_refused_and_a_waiting_slot_is_not(planned: FetchContext) -> None:
    quant, kline = (
        QUANT.scheduled_run(datetime(2026, 8, 21, 17, 30)),
        KLINE.scheduled_run(datetime(2026, 8, 21, 15, 40)),
    )
    slots_of(planned).wait(quant, "waits for fusion_kline_sync", trade_date=TODAY)
    slots_of(planned).claim(kline, "tick", trade_date=TODAY)

    assert ask(planned, "quant_calc").status_code == 200
    assert ask(planned, "fusion_kline_sync").status_code == 409


def test_of_many_requests_at_once_one_is_accepted(
    planned: FetchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue = CommandQueue.enqueue

    def slow(queue: CommandQueue, *args: Any, **how: Any) -> Any:
        """Time enough for the others to look, too."""
        time.sleep(0.03)
        return enqueue(queue, *args, **how)

    monkeypatch.setattr(CommandQueue, "enqueue", slow)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(planned, "fusion_kline_sync").status_code, range(16)))

    assert sorted(answers) == [200] + [409] * 15
    assert planned.scalar("SELECT COUNT(*) FROM sys_command") == 1


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"date": "2026-08-20"}, 200, ""),
        ({"date": "20260820"}, 200, ""),
        (
            {"date": "2026-08-15"},
            422,
            "date: 2026-08-15 is no trade day; the nearest earlier one is 2026-08-14",
        ),
        ({"date": "2026-08-24"}, 422, "date: 2026-08-24 lies in the future"),
        ({"date": "tomorrow"}, 422, "date: "),
        ({"date": "2026-02-30"}, 422, "date: "),
        ({"day": "2026-08-20"}, 422, "day: "),
        ({"force": "yes"}, 422, "force: "),
    ],
)
def test_the_body_of_a_run_is_checked(
    planned: FetchContext, body: dict[str, Any], status: int, words: str
) -> None:
    answer = ask(planned, "fusion_kline_sync", **body)

    assert answer.status_code == status, answer.text
    assert answer.json().get("detail", "").startswith(words)


def test_an_unknown_task_is_404_and_an_invalid_date_is_reported_first(planned: FetchContext) -> None:
    assert ask(planned, "nothing").status_code == 404
    assert ask(planned, "nothing", date="never").status_code == 422


@pytest.mark.parametrize(
    ("task", "requested", "now", "expected"),
    [
        (KLINE, None, "2026-08-21T15:29", "2026-08-20"),
        (KLINE, None, "2026-08-21T15:30", "2026-08-21"),
        (KLINE, None, "2026-08-22T03:00", "2026-08-21"),
        (KLINE, None, "2026-08-24T03:00", "2026-08-21"),
        (NEWS, "2026-08-22", "2026-08-23T12:00", "2026-08-21"),
    ],
)
def test_the_day_of_a_run(
    planned: FetchContext, task: Task, requested: str | None, now: str, expected: str
) -> None:
    calendar = planned.api.app.state.platform.calendar

    assert day_of_run(task, requested, datetime.fromisoformat(now), calendar) == expected


# -- switch and time --------------------------------------------------------------------------------


def put(ctx: FetchContext, key: str, **body: Any) -> Any:
    return ctx.send("PUT", f"/datamgr/schedule/{key}", json=body)


def test_a_task_is_moved_without_dagster(planned: FetchContext) -> None:
    answer = put(planned, "fusion_kline_sync", triggerHm=1610)

    assert answer.status_code == 200
    found = answer.json()["results"]
    assert (found["triggerHm"], found["enabled"]) == (1610, True)
    assert found["nextRunAt"] == f"{TODAY}T16:10:00+08:00"
    item = task_item(planned, "fusion_kline_sync")
    assert (item["triggerHm"], item["time"], item["cron"]) == (1610, "16:10", "10 16 * * *")
    stored = TaskTable(planned.warehouse.engine).get("fusion_kline_sync")
    assert (stored.changed_by, stored.declared.timing.hm) == ("admin", 1540)


def test_a_time_before_that_of_what_a_task_waits_for_is_refused_or_warned_about(bare: FetchContext) -> None:
    TaskTable(bare.warehouse.engine).publish(ALL_TASKS)

    refused = put(bare, "builtin_track", triggerHm=1735)
    warned = put(bare, "fusion_kline_sync", triggerHm=1610)

    assert refused.status_code == 422
    assert "builtin_track (17:35) is before dragon_score_sync (17:40)" in refused.text
    assert task_item(bare, "builtin_track")["triggerHm"] == 1815
    assert warned.status_code == 200
    message = warned.json()["results"]["message"]
    assert "market_phase_sync（15:45）早于其前置任务 fusion_kline_sync（16:10）" in message


def test_the_switch_is_the_native_one(switched: FetchContext, switches: Switches) -> None:
    off = put(switched, "fusion_kline_sync", enabled=False).json()["results"]

    assert (off["enabled"], off["nextRunAt"]) == (False, None)
    assert switches.running["fusion_kline_sync"] is False
    assert switches.running["news_sync"] is True
    assert task_item(switched, "fusion_kline_sync")["enabled"] is False

    on = put(switched, "fusion_kline_sync", enabled=True).json()["results"]

    assert on["enabled"] is True
    assert switches.running["fusion_kline_sync"] is True


def test_both_are_changed_together(switched: FetchContext, switches: Switches) -> None:
    found = put(switched, "news_sync", enabled=False, triggerHm=905).json()["results"]

    assert (found["enabled"], found["triggerHm"]) == (False, 905)
    assert switches.running["news_sync"] is False


def test_without_dagster_nothing_is_changed(planned: FetchContext) -> None:
    state = planned.api.app.state.platform
    state.settings = replace(state.settings, dagster_port=1)

    answer = put(planned, "fusion_kline_sync", enabled=False, triggerHm=1610)

    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    item = task_item(planned, "fusion_kline_sync")
    assert (item["enabled"], item["triggerHm"]) == (True, 1540)


def test_a_schedule_that_is_not_served_yet_is_503(switched: FetchContext, switches: Switches) -> None:
    del switches.running["fusion_kline_sync"]

    assert put(switched, "fusion_kline_sync", enabled=False).status_code == 503
    assert task_item(switched, "fusion_kline_sync")["enabled"] is True


@pytest.mark.parametrize(
    ("key", "body", "status", "named"),
    [
        ("nothing", {"triggerHm": 900}, 404, ""),
        ("nothing", {"triggerHm": 2400}, 422, "triggerHm"),
        ("fusion_kline_sync", {"triggerHm": 2400}, 422, "triggerHm"),
        ("fusion_kline_sync", {"triggerHm": 1060}, 422, "triggerHm"),
        ("fusion_kline_sync", {"triggerHm": -1}, 422, "triggerHm"),
        ("fusion_kline_sync", {"triggerHm": "1600"}, 422, "triggerHm"),
        ("fusion_kline_sync", {"triggerHm": True}, 422, "triggerHm"),
        ("fusion_kline_sync", {"enabled": 1}, 422, "enabled"),
        ("fusion_kline_sync", {}, 422, "body"),
        ("fusion_kline_sync", {"enabled": None}, 422, "body"),
        ("fusion_kline_sync", {"enable": True}, 422, "enable"),
        ("portfolio_mon", {"triggerHm": 900}, 422, "triggerHm"),
        ("eod_core", {"triggerHm": 900}, 422, "triggerHm"),
        ("eod_core", {"enabled": False}, 422, "enabled"),
    ],
)
def test_a_wrong_change_is_named_and_changes_nothing(
    switched: FetchContext, switches: Switches, key: str, body: dict[str, Any], status: int, named: str
) -> None:
    before = switched.results("/datamgr/schedule")

    answer = put(switched, key, **body)

    assert answer.status_code == status, answer.text
    assert answer.json()["detail"].startswith(f"{named}: " if named else "no task")
    assert switched.results("/datamgr/schedule") == before
    assert all(switches.running.values())


# -- runs -------------------------------------------------------------------------------------------


def test_runs_are_plain_and_have_an_alias(planned: FetchContext) -> None:
    ended(planned, KLINE, "2026-08-20T15:40", "failed", "run-1", "no bars")
    ended(planned, KLINE, "2026-08-21T15:40", "success", "run-2")

    plain = planned.get("/tasks/runs").json()

    assert plain.keys() == {"runs", "total"}
    assert plain == planned.get("/datamgr/tasks/runs").json()
    assert plain["total"] == 2
    newest, older = plain["runs"]
    assert (newest["runId"], older["message"]) == ("run-2", "no bars")
    assert older | {"id": 0} == {
        "id": 0,
        "key": "fusion_kline_sync",
        "status": "failed",
        "trigger": "schedule",
        "slotAt": "2026-08-20T15:40:00+08:00",
        "tradeDate": "2026-08-20",
        "attempt": 1,
        "runId": "run-1",
        "startedAt": "2026-08-20T15:40:00+08:00",
        "finishedAt": "2026-08-20T15:41:30+08:00",
        "durationSec": 90.0,
        "message": "no bars",
    }


def test_a_slot_that_did_not_run_says_why(planned: FetchContext) -> None:
    slot = ScheduledRun("fusion_kline_sync", "2026-08-22", datetime(2026, 8, 22, 15, 40))
    slots_of(planned).set_aside(slot, "skipped", "no trade day", trade_date=None)

    run = planned.get("/tasks/runs").json()["runs"][0]

    assert (run["status"], run["message"], run["runId"]) == ("skipped", "no trade day", None)


@pytest.mark.parametrize(
    ("params", "runs"),
    [
        ({"key": "fusion_kline_sync"}, ["run-2", "run-1"]),
        ({"key": "nothing"}, []),
        ({"status": "failed"}, ["run-1"]),
        ({"date": "2026-08-20"}, ["run-3", "run-1"]),
        ({"date": "20260821"}, ["run-2"]),
        ({"limit": 1}, ["run-2"]),
        ({"limit": 1, "offset": 1}, ["run-3"]),
    ],
)
def test_runs_are_filtered_and_paged(planned: FetchContext, params: dict[str, Any], runs: list[str]) -> None:
    ended(planned, KLINE, "2026-08-20T15:40", "failed", "run-1")
    ended(planned, KLINE, "2026-08-21T15:40", "success", "run-2")
    ended(planned, NEWS, "2026-08-20T17:00", "success", "run-3")

    found = planned.get("/tasks/runs", **params).json()

    assert [run["runId"] for run in found["runs"]] == runs
    assert found["total"] == (3 if "limit" in params else len(runs))


@pytest.mark.parametrize(
    "params", [{"status": "done"}, {"limit": 0}, {"limit": 501}, {"offset": -1}, {"date": "x"}]
)
def test_wrong_filters_of_runs_are_422(planned: FetchContext, params: dict[str, Any]) -> None:
    assert planned.get("/tasks/runs", **params).status_code == 422


def test_a_finished_run_is_a_line_of_the_sync_log(planned: FetchContext) -> None:
    ended(planned, KLINE, "2026-08-20T15:40", "failed", "run-1", "no bars")
    ended(planned, NEWS, "2026-08-20T17:00", "success", "run-3")

    logs = planned.get("/datamgr/sync-logs", limit=1).json()
    kline = planned.results("/datamgr/sync-logs", taskType="sched:fusion_kline_sync")

    assert (len(logs["results"]), logs["stats"]["total"]) == (1, 2)
    assert logs["results"][0]["taskType"] == "sched:news_sync"
    assert (kline[0]["status"], kline[0]["message"]) == ("failed", "no bars")
    assert kline[0]["startedAt"] == "2026-08-20T15:40:00+08:00"
    assert kline[0]["finishedAt"] == "2026-08-20T15:41:30+08:00"
    assert planned.results("/datamgr/sync-logs", status="success")[0]["taskType"] == "sched:news_sync"
    assert planned.results("/datamgr/sync-logs", code="600519") == []
