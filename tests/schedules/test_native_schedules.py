"""Schedule bodies and the sensor, evaluated by Dagster itself on an instance of its own."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from core.clock import FrozenClock, ManualClock
from resources.orchestrator import RANGE_END, RANGE_START
from resources.warehouse.ledger.tasks import Task, Timing
from schedules import run_tags
from schedules.services import Services
from schedules.tasks.native_schedules import Scheduling, build_schedules, evaluate_tick
from schedules.tasks.trigger_times import FILE, read_times, write_times
from tests.schedules.conftest import DATES

PARTITIONS = dg.StaticPartitionsDefinition(list(DATES))
MONITOR = Timing(every_minutes=30, windows=((930, 1130), (1300, 1500)))
TASKS = (
    Task("kline", "K线", Timing(hm=1540), max_retries=1, retry_delay_s=300),
    Task("wide", "宽表", Timing(hm=1620), after=("kline",), wait_minutes=40),
    Task("monitor", "盘中", MONITOR, partitioned=False, grace_minutes=10),
    Task("core", "核心", Timing()),
)


def job(key: str) -> dg.JobDefinition:
    @dg.op(name=f"{key}_op")
    def work(context: dg.OpExecutionContext) -> None:
        if context.run.tags.get("test/fail"):
            raise ValueError("upstream is silent")

    # A partitions definition would ask the job for partitioned config; the ledger needs neither here.
    @dg.job(name=key, partitions_def=None if key == "monitor" else PARTITIONS)
    def made() -> None:
        work()

    return made


JOBS = {task.key: job(task.key) for task in TASKS}
REPOSITORY = dg.Definitions(jobs=list(JOBS.values())).get_repository_def()


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("dagster"))) as made:
        yield made


@pytest.fixture
def instance(storage: dg.DagsterInstance) -> dg.DagsterInstance:
    """An instance without runs; opening one takes longer than emptying it."""
    storage.wipe()
    return storage


@pytest.fixture
def published(services: Services) -> Services:
    services.tasks.publish(TASKS)
    return services


def at(services: Services, text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert isinstance(services.clock, ManualClock)
    services.clock.at = moment
    return moment


def build(services: Services) -> Scheduling:
    """As the code location builds them after the worker wrote the changed times."""
    times: dict[str, int] = {}
    if services.migrated:
        write_times(services.settings.data_path, services.tasks.all())
        times = read_times(services.settings.data_path)
    return build_schedules(JOBS, tasks=TASKS, services=lambda: services, times=times)


def tick(
    services: Services, instance: dg.DagsterInstance, key: str, text: str, *, now: str | None = None
) -> tuple[list[dg.RunRequest], str | None]:
    """Evaluate the schedule of a task at a tick; the market clock stands three seconds after it."""
    moment = at(services, text)
    services.clock.at = datetime.fromisoformat(now) if now else moment + timedelta(seconds=3)  # type: ignore[attr-defined]
    schedule = next(item for item in build(services).schedules if item.name == key)
    context = dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=moment.replace(tzinfo=ZoneInfo("Asia/Shanghai")),
        repository_def=REPOSITORY,
    )
    found = schedule.evaluate_tick(context)
    return list(found.run_requests or []), found.skip_message


class Sensor:
    """The sensor over several ticks: keeps its cursor."""

    def __init__(self, services: Services, instance: dg.DagsterInstance) -> None:
        self.services, self.instance = services, instance
        self.cursor: str | None = None

    def tick(self, text: str) -> tuple[list[dg.RunRequest], str | None]:
        at(self.services, text)
        sensor = build(self.services).sensors[0]
        context = dg.build_sensor_context(
            instance=self.instance, cursor=self.cursor, repository_def=REPOSITORY
        )
        found = sensor.evaluate_tick(context)
        self.cursor = found.cursor
        return list(found.run_requests or []), found.skip_message


def status(services: Services, key: str, slot: str) -> tuple[str, str | None]:
    row = services.scheduled_runs.since(datetime(2026, 1, 1))[key, slot]
    return row.status, row.reason


def execute(
    services: Services, instance: dg.DagsterInstance, request: dg.RunRequest, *, fail: bool = False
) -> str:
    """The run that a request asks for, done here; it enters its row first, as our assets do."""
    run_id = str(uuid.uuid4())
    services.scheduled_runs.enter(run_id, request.tags, now=services.clock.now())
    more = {"test/fail": "1"} if fail else {}
    result = JOBS[request.tags[run_tags.TASK]].execute_in_process(
        instance=instance, run_id=run_id, tags={**request.tags, **more}, raise_on_error=False
    )
    assert result.success is not fail
    return run_id


def test_every_timed_task_is_a_running_schedule_in_local_time(published: Services) -> None:
    made = build(published)

    assert {
        (item.name, item.cron_schedule, item.execution_timezone, item.default_status.value)
        for item in made.schedules
    } == {
        ("kline", "40 15 * * *", "Asia/Shanghai", "RUNNING"),
        ("wide", "20 16 * * *", "Asia/Shanghai", "RUNNING"),
        ("monitor", "*/30 9-11,13-15 * * *", "Asia/Shanghai", "RUNNING"),
    }
    assert [item.name for item in made.sensors] == ["task_table", "gaps"]


def test_a_task_of_several_dates_asks_for_a_range_of_them(
    services: Services, instance: dg.DagsterInstance
) -> None:
    task = Task("kline", "K线", Timing(hm=1810), dates=3)
    services.tasks.publish((task,))
    moment = at(services, f"{DATES[-1]}T18:10")
    schedule = build_schedules(JOBS, tasks=(task,), services=lambda: services).schedules[0]
    context = dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=moment.replace(tzinfo=ZoneInfo("Asia/Shanghai")),
        repository_def=REPOSITORY,
    )

    (request,) = schedule.evaluate_tick(context).run_requests or []

    assert request.partition_key is None
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == (DATES[-3], DATES[-1])
    assert request.tags[run_tags.TRADE_DATE] == DATES[-1]
    execute(services, instance, request)
    assert status(services, "kline", DATES[-1])[0] == "running"  # entered; the sensor settles what has ended


def test_schedules_sensor_and_jobs_load_together(published: Services) -> None:
    made = build(published)
    defs = dg.Definitions(jobs=list(JOBS.values()), schedules=made.schedules, sensors=made.sensors)

    dg.Definitions.validate_loadable(defs)


def test_building_the_schedules_opens_nothing() -> None:
    def never() -> Services:
        raise AssertionError("opened while the definitions load")

    made = build_schedules(JOBS, tasks=TASKS, services=never)

    assert "40 15 * * *" in {item.cron_schedule for item in made.schedules}


@pytest.mark.parametrize("text", ["", "[1]", '{"kline": "soon"}', '{"kline": 2599}', '{"monitor": 900}'])
def test_changed_times_that_are_not_valid_leave_the_declared_ones(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")

    made = build_schedules(JOBS, tasks=TASKS, times=read_times(tmp_path))

    crons = {item.name: item.cron_schedule for item in made.schedules}
    assert (crons["kline"], crons["monitor"]) == ("40 15 * * *", MONITOR.cron)


def test_a_changed_time_is_served_after_a_reload(published: Services) -> None:
    published.tasks.retime("kline", 1555, by="t", now=published.clock.now())

    assert next(item for item in build(published).schedules if item.name == "kline").cron_schedule == (
        "55 15 * * *"
    )


def test_a_due_schedule_claims_its_slot_and_asks_for_one_run(
    published: Services, instance: dg.DagsterInstance
) -> None:
    requests, _ = tick(published, instance, "kline", "2026-08-21 15:40")

    assert [request.run_key for request in requests] == ["kline:2026-08-21:1"]
    assert requests[0].partition_key == "2026-08-21"
    expected = {
        run_tags.TASK: "kline",
        run_tags.SLOT: "2026-08-21",
        run_tags.TRADE_DATE: "2026-08-21",
        run_tags.TRIGGER: "schedule",
        run_tags.OWNER: "schedule",
        run_tags.ATTEMPT: "1",
    }
    assert expected.items() <= requests[0].tags.items()
    assert status(published, "kline", "2026-08-21") == ("queued", None)
    # The daemon died and evaluates the tick again; Dagster's run key then keeps the run single.
    again, _ = tick(published, instance, "kline", "2026-08-21 15:40")
    assert [request.run_key for request in again] == ["kline:2026-08-21:1"]
    published.scheduled_runs.begin("kline", "2026-08-21", "some run", now=published.clock.now())
    none, why = tick(published, instance, "kline", "2026-08-21 15:40")
    assert (none, why) == ([], "2026-08-21 has been claimed or has run already")


@pytest.mark.parametrize(
    ("key", "when", "why"),
    [
        ("kline", "2026-08-22 15:40", "2026-08-22 is no trade date"),
        ("wide", "2026-08-21 16:20", "waits for kline"),
        ("monitor", "2026-08-21 09:00", "09:00 lies outside the hours of monitor"),
        ("kline", "2027-01-04 15:40", "the trade calendar ends on 2026-08-25; 2027-01-04 is unknown"),
    ],
)
def test_a_schedule_says_why_it_does_not_run(
    published: Services, instance: dg.DagsterInstance, key: str, when: str, why: str
) -> None:
    assert tick(published, instance, key, when) == ([], why)


def test_a_repeating_task_has_a_slot_per_time_and_no_partition(
    published: Services, instance: dg.DagsterInstance
) -> None:
    requests, _ = tick(published, instance, "monitor", "2026-08-21 09:30")

    assert [(r.run_key, r.partition_key) for r in requests] == [("monitor:2026-08-21T09:30:1", None)]
    assert tick(published, instance, "monitor", "2026-08-21 10:00")[0]


def test_the_old_tick_of_a_moved_task_does_not_fire(
    published: Services, instance: dg.DagsterInstance
) -> None:
    before = build(published)
    published.tasks.retime("kline", 1700, by="t", now=datetime(2026, 8, 21, 15, 39))
    schedule = next(item for item in before.schedules if item.name == "kline")
    moment = at(published, "2026-08-21 15:40").replace(tzinfo=ZoneInfo("Asia/Shanghai"))

    found = schedule.evaluate_tick(
        dg.build_schedule_context(instance=instance, scheduled_execution_time=moment)
    )

    assert not found.run_requests
    assert found.skip_message == "moved to 17:00; this is the tick of 15:40"


def test_a_time_moved_into_the_past_does_not_fire_and_says_so(
    published: Services, instance: dg.DagsterInstance
) -> None:
    published.tasks.retime("kline", 1535, by="t", now=datetime(2026, 8, 21, 15, 37))

    requests, why = tick(published, instance, "kline", "2026-08-21 15:35", now="2026-08-21 15:38")

    assert requests == []
    assert why == "changed at 2026-08-21 15:37:00, after its time 15:35"
    assert status(published, "kline", "2026-08-21") == ("skipped", why)
    # Moved once more, into the future: the day's scheduled run has not run, so it is due again.
    published.tasks.retime("kline", 1600, by="t", now=datetime(2026, 8, 21, 15, 45))
    assert tick(published, instance, "kline", "2026-08-21 16:00")[0]


def test_nothing_fires_while_the_clock_stands_or_the_scheduler_is_off(
    published: Services, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor = Sensor(published, instance)
    monkeypatch.setattr(published, "clock", FrozenClock(datetime(2026, 8, 21, 15, 40)))
    schedule = build(published).schedules[0]
    moment = datetime(2026, 8, 21, 15, 40, tzinfo=ZoneInfo("Asia/Shanghai"))
    context = dg.build_schedule_context(instance=instance, scheduled_execution_time=moment)

    assert "frozen" in str(schedule.evaluate_tick(context).skip_message)
    made = build(published).sensors[0].evaluate_tick(dg.build_sensor_context(instance=instance))
    assert "frozen" in str(made.skip_message)
    assert published.scheduled_runs.since(datetime(2026, 1, 1)) == {}
    assert sensor.cursor is None


def test_the_sensor_leaves_a_slot_to_its_schedule_first(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:39")

    assert sensor.tick("2026-08-21 15:40:20")[0] == []
    assert [r.run_key for r in sensor.tick("2026-08-21 15:40:50")[0]] == ["kline:2026-08-21:1"]
    assert tick(published, instance, "kline", "2026-08-21 15:40")[0] == []


def test_the_sensor_fires_a_moved_task_at_its_new_time_before_the_reload(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:30")
    served_before = build(published).sensors[0]
    published.tasks.retime("kline", 1535, by="t", now=at(published, "2026-08-21 15:31"))
    at(published, "2026-08-21 15:35:10")

    found = served_before.evaluate_tick(
        dg.build_sensor_context(instance=instance, cursor=sensor.cursor, repository_def=REPOSITORY)
    )

    assert [request.run_key for request in found.run_requests or []] == ["kline:2026-08-21:1"]


def test_a_waiting_task_runs_after_the_success_it_waits_for(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:39")
    (kline,), _ = tick(published, instance, "kline", "2026-08-21 15:40")
    tick(published, instance, "wide", "2026-08-21 16:20")
    assert sensor.tick("2026-08-21 16:21") == ([], "wide: waits for kline")
    assert status(published, "wide", "2026-08-21") == ("queued", "waits for kline")

    execute(published, instance, kline)
    requests, _ = sensor.tick("2026-08-21 16:30")

    assert status(published, "kline", "2026-08-21") == ("success", None)
    assert [(r.job_name, r.tags[run_tags.TRIGGER]) for r in requests] == [("wide", "schedule")]
    assert run_tags.WARNING not in requests[0].tags


def test_a_task_runs_with_a_warning_when_it_waited_long_enough(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 16:00")
    for minute in range(1, 60, 4):
        assert sensor.tick(f"2026-08-21 16:{minute:02d}")[0] == [] or minute < 5

    requests, _ = sensor.tick("2026-08-21 17:00:30")

    assert [r.tags[run_tags.WARNING] for r in requests] == [
        "runs without kline: no success within 40 minutes"
    ]


def test_a_failed_run_is_tried_again_after_its_delay_and_not_more_often(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:39")
    (first,), _ = tick(published, instance, "kline", "2026-08-21 15:40")
    execute(published, instance, first, fail=True)
    assert sensor.tick("2026-08-21 15:42")[0] == []
    state, reason = status(published, "kline", "2026-08-21")
    assert state == "failed"
    assert "upstream is silent" in str(reason)

    assert sensor.tick("2026-08-21 15:46")[0] == []
    (second,), _ = sensor.tick("2026-08-21 15:47:30")
    assert (second.run_key, second.tags[run_tags.ATTEMPT]) == ("kline:2026-08-21:2", "2")
    execute(published, instance, second, fail=True)
    assert sensor.tick("2026-08-21 15:49")[0] == []
    assert sensor.tick("2026-08-21 16:15")[0] == []
    assert status(published, "kline", "2026-08-21")[0] == "failed"


def test_a_run_that_never_began_is_asked_for_once_more_whatever_the_task_says(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 09:29")
    (request,), _ = tick(published, instance, "monitor", "2026-08-21 09:30")
    not_started(instance, request)
    sensor.tick("2026-08-21 09:31")
    (again,), _ = sensor.tick("2026-08-21 09:31:30")
    assert again.run_key == "monitor:2026-08-21T09:30:2"
    not_started(instance, again)
    assert sensor.tick("2026-08-21 09:32")[0] == []
    assert sensor.tick("2026-08-21 09:33")[0] == []
    assert status(published, "monitor", "2026-08-21T09:30")[0] == "failed"


def not_started(instance: dg.DagsterInstance, request: dg.RunRequest) -> None:
    """What Dagster leaves of a run whose process it could not start."""
    run = instance.create_run_for_job(JOBS[request.tags[run_tags.TASK]], tags=dict(request.tags))
    instance.report_run_failed(run)


def test_slots_of_a_pause_are_made_up_for_or_recorded_as_missed(
    published: Services, instance: dg.DagsterInstance
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-20 12:00")

    requests, _ = sensor.tick("2026-08-24 17:00")

    kept = {(key, slot[:10]): row.status for (key, slot), row in
            published.scheduled_runs.since(datetime(2026, 1, 1)).items() if key == "kline"}  # fmt: skip
    assert kept == {
        ("kline", "2026-08-20"): "missed",
        ("kline", "2026-08-21"): "missed",
        ("kline", "2026-08-22"): "skipped",
        ("kline", "2026-08-23"): "skipped",
        ("kline", "2026-08-24"): "queued",
    }
    assert [(r.job_name, r.tags[run_tags.TRIGGER]) for r in requests] == [("kline", "catchup")]
    assert status(published, "wide", "2026-08-24") == ("queued", "waits for kline")
    assert published.scheduled_runs.runs(task_key="monitor", status="missed")[1] > 10


def test_slots_before_the_first_sweep_do_not_count(published: Services, instance: dg.DagsterInstance) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 17:00")
    sensor.tick("2026-08-21 17:00:30")

    assert published.scheduled_runs.since(datetime(2026, 1, 1)) == {}
    assert [node.node_id for node in published.heartbeats.all("scheduler")] == ["scheduler"]
    assert json.loads(str(sensor.cursor))["since"] == "2026-08-21T17:00:00"


def test_a_claim_whose_run_was_made_is_tied_to_it(published: Services, instance: dg.DagsterInstance) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:39")
    (request,), _ = tick(published, instance, "kline", "2026-08-21 15:40")
    run = instance.create_run_for_job(JOBS["kline"], tags=dict(request.tags))

    assert sensor.tick("2026-08-21 15:50")[0] == []

    row = published.scheduled_runs.since(datetime(2026, 8, 1))["kline", "2026-08-21"]
    assert (row.run_id, row.status) == (run.run_id, "queued")


def test_a_tick_that_finds_every_switch_as_it_is_writes_none(
    published: Services, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(published.tasks, "mirror_enabled", lambda key, *_, **__: written.append(key))
    Sensor(published, instance).tick("2026-08-21 15:00")

    assert written == []


def test_a_switched_off_task_leaves_a_row_that_says_so(
    published: Services, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:00")

    class Off:
        name, is_running = "kline", False

        class instigator_type:
            name = "SCHEDULE"

        class origin:
            class repository_origin:
                code_location_origin = None

    monkeypatch.setattr(instance, "all_instigator_state", lambda **_: [Off])
    sensor.tick("2026-08-21 15:10")
    requests, _ = sensor.tick("2026-08-21 15:41")

    assert requests == []
    assert status(published, "kline", "2026-08-21") == ("skipped", "switched off")
    assert published.tasks.get("kline").enabled is False


def test_what_the_settings_keep_off_leaves_a_row_that_names_them(
    published: Services, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.settings.EOD_TASKS", frozenset({"kline"}))
    published.settings = replace(published.settings, scheduler_eod_sync=False)
    sensor = Sensor(published, instance)
    sensor.tick("2026-08-21 15:00")

    requests, _ = sensor.tick("2026-08-21 15:41")

    assert requests == []
    assert status(published, "kline", "2026-08-21") == ("skipped", "SCHEDULER_EOD_SYNC is false")
    reported = evaluate_tick(published, TASKS[0], datetime(2026, 8, 24, 15, 40))
    assert isinstance(reported, dg.SkipReason)
    assert reported.skip_message == "SCHEDULER_EOD_SYNC is false"
