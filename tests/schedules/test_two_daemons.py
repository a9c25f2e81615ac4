"""Two schedulers by mistake on one warehouse: each scheduled run is worked on once, whoever asks first.

Each daemon is a process that evaluates the ticks of a whole day, the same tick at the same moment as the
other one, and begins the run that it got, as the first step of a Dagster run does.
"""

import multiprocessing
from collections import Counter
from datetime import datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import dagster as dg
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.clock import ManualClock
from core.errors import ConflictError
from platform_assets.task_table import TASKS
from resources.settings import load_settings
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.tasks_state import TaskTable
from schedules import run_tags
from schedules.services import Services
from schedules.tasks.native_schedules import evaluate_tick
from tests.schedules.conftest import DATES

DAY = datetime(2026, 8, 21)
DAEMONS = 2


def ticks() -> list[tuple[datetime, str]]:
    """(tick, task) of the day by the task table, in the order of the clock."""
    return sorted((tick, task.key) for task in TASKS for tick in task.timing.on(DAY.date()))


def daemon(number: int, url: str, folder: str, meet: Barrier, reports: Any) -> None:
    """One scheduler over the day; reports (tick, task, scheduled run, "worked", "refused" or "skipped")."""
    clock = ManualClock(DAY, frozen=False)
    settings = load_settings({"DATA_DIR": folder}, dotenv=Path(folder) / "none")
    services = Services(
        settings=settings, clock=clock, calendar=TradeCalendar(DATES), engine=make_engine(url)
    )
    declared = {task.key: task for task in TASKS}
    found = []
    for tick, key in ticks():
        clock.at = tick + timedelta(seconds=3)
        meet.wait(60)
        request = evaluate_tick(services, declared[key], tick)
        slot, outcome = "", "skipped"
        if isinstance(request, dg.RunRequest):
            slot = request.tags[run_tags.SLOT]
            run_id, outcome = f"run of daemon {number}, {key} {slot}", "worked"
            try:
                services.scheduled_runs.begin(key, slot, run_id, now=clock.now())
            except ConflictError:
                outcome = "refused"
            else:
                services.scheduled_runs.finish(run_id, "success", now=clock.now())
        found.append((tick, key, slot, outcome))
    services.engine.dispose()
    reports.put(found)


def day_of(daemons: int, url: str, folder: Path) -> list[tuple[datetime, str, str, str]]:
    """The reports of as many daemons, one after the other."""
    spawn = multiprocessing.get_context("spawn")
    meet, reports = spawn.Barrier(daemons), spawn.Queue()
    processes = [
        spawn.Process(target=daemon, args=(number, url, str(folder), meet, reports))
        for number in range(daemons)
    ]
    for process in processes:
        process.start()
    found = [line for _ in processes for line in reports.get(timeout=120)]
    for process in processes:
        process.join(30)
    return found


def test_each_scheduled_run_of_a_day_is_worked_on_once(url: str, lite: Engine, tmp_path: Path) -> None:
    engine = make_engine(url)
    for one in (engine, lite):
        TaskTable(one).publish(TASKS)
    alone = day_of(1, lite.url.render_as_string(), tmp_path)
    both = day_of(DAEMONS, url, tmp_path)

    expected = Counter((tick, key, slot) for tick, key, slot, outcome in alone if outcome == "worked")
    assert Counter((tick, key, slot) for tick, key, slot, outcome in both if outcome == "worked") == expected
    assert len(expected) > len(TASKS) / 2
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT task_key, slot FROM sys_slot WHERE status='success'").all()
    engine.dispose()
    assert Counter((key, slot) for key, slot in rows) == Counter((key, slot) for _, key, slot in expected)
