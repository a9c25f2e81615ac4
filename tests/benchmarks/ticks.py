"""What a tick of the scheduler costs: the body of a schedule and the sensor of all tasks, each beside a bare
one of Dagster's, in processor time."""

import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg

from core.clock import ManualClock
from platform_assets.definitions.partitions import trade_dates
from platform_assets.task_table import TASKS
from resources.settings import load_settings
from resources.warehouse.engine import make_engine
from schedules.services import Services, make_services
from schedules.tasks.native_schedules import Scheduling, build_schedules
from tests.benchmarks.measure import Figure, at_most, interleaved
from tests.schedules.conftest import prepare

TASK = "fusion_kline_sync"
FIRST = datetime(2026, 8, 3, 15, 40)
SAMPLES = 15
ZONE = ZoneInfo("Asia/Shanghai")


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name, dg.DagsterInstance.local_temp(name) as instance:
        services = empty_services(Path(name))
        built = scheduling(services)
        idle = nothing()
        due = days(SAMPLES)
        schedule, bare = interleaved(
            SAMPLES,
            lambda number: evaluated(built, services, instance, due[number]),
            lambda number: evaluated(idle, services, instance, due[number]),
            clock=time.process_time,
        )
        yield at_most(f"tick of {TASK} that claims its run, vs a schedule that asks for one at once",
                      schedule, bare, None, note=f"{SAMPLES} trade dates")  # fmt: skip
        looked(built, services, instance, due[-1])  # what is overdue is asked for once
        quiet = [due[-1] + timedelta(seconds=30 * number) for number in range(1, SAMPLES + 1)]
        sensed, again = interleaved(
            SAMPLES,
            lambda number: looked(built, services, instance, quiet[number]),
            lambda number: evaluated(idle, services, instance, due[number]),
            clock=time.process_time,
        )
        yield at_most(f"tick of the sensor over {len(TASKS)} tasks, none due, vs the bare schedule's",
                      sensed, again, None)  # fmt: skip
        day = sensed * 2880 + schedule * len(TASKS)
        yield Figure(
            "processor time of the ticks of a day (a sensor every 30 s, each task once), vs the day",
            f"{day:.0f} s", "86400 s", day / 86400, None, at_most=True,
        )  # fmt: skip
        services.engine.dispose()


def empty_services(folder: Path) -> Services:
    """The scheduler's side of a new installation at a clock that is moved by hand."""
    environ = {"DATA_DIR": str(folder), "WAREHOUSE_URL": f"sqlite:///{folder / 'warehouse.sqlite3'}"}
    settings = load_settings(environ, dotenv=folder / "none")
    engine = make_engine(settings.warehouse_address)
    prepare(engine)
    engine.dispose()
    made = make_services(settings)
    made.clock = ManualClock(FIRST, frozen=False)
    made.tasks.publish(TASKS)
    return made


def empty_job(name: str, *, partitioned: bool) -> dg.JobDefinition:
    @dg.op(name=f"{name}_op")
    def work() -> None:
        """Never carried out here."""

    @dg.job(name=name, partitions_def=trade_dates() if partitioned else None)
    def made() -> None:
        work()

    return made


JOBS = {task.key: empty_job(task.key, partitioned=task.partitioned) for task in TASKS}
REPOSITORY = dg.Definitions(jobs=list(JOBS.values())).get_repository_def()


def scheduling(services: Services) -> Scheduling:
    return build_schedules(JOBS, tasks=TASKS, services=lambda: services, times={})


def nothing() -> Scheduling:
    """A schedule and a sensor of Dagster's own, without a word of ours."""
    schedule = dg.ScheduleDefinition(
        name=TASK, job=JOBS[TASK], cron_schedule="40 15 * * *", execution_timezone=ZONE.key,
        execution_fn=lambda _context: dg.RunRequest(run_key="one", partition_key="2026-08-03"),
    )  # fmt: skip
    sensor: Callable[[Any], dg.SkipReason] = lambda _context: dg.SkipReason("nothing")  # noqa: E731
    return Scheduling(
        schedules=[schedule], sensors=[dg.SensorDefinition(name="bare", evaluation_fn=sensor, job=JOBS[TASK])]
    )


def days(count: int) -> list[datetime]:
    """Moments after each other at which the task is due on a trade date."""
    from core.calendar import shipped_calendar

    calendar = shipped_calendar()
    found = [calendar.offset(FIRST.date().isoformat(), step) for step in range(count)]
    return [datetime.fromisoformat(f"{day}T{FIRST:%H:%M}") for day in found]


def _at(services: Services, moment: datetime) -> None:
    assert isinstance(services.clock, ManualClock)
    services.clock.at = moment + timedelta(seconds=3)


def evaluated(built: Scheduling, services: Services, instance: dg.DagsterInstance, moment: datetime) -> None:
    """A tick of the schedule; it has to ask for a run."""
    _at(services, moment)
    schedule = next(item for item in built.schedules if item.name == TASK)
    context = dg.build_schedule_context(
        instance=instance, scheduled_execution_time=moment.replace(tzinfo=ZONE), repository_def=REPOSITORY
    )
    found = schedule.evaluate_tick(context)
    if not found.run_requests:
        raise RuntimeError(f"{TASK} at {moment}: {found.skip_message}")


def looked(built: Scheduling, services: Services, instance: dg.DagsterInstance, moment: datetime) -> None:
    """A tick of the sensor half a minute later."""
    _at(services, moment + timedelta(seconds=30))
    built.sensors[0].evaluate_tick(dg.build_sensor_context(instance=instance, repository_def=REPOSITORY))
