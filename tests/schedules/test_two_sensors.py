"""Two sensors by mistake on one warehouse and one storage of Dagster: each attempt of a scheduled run is
worked on once, also when both ask for it. With MariaDB as the warehouse, Dagster's storage is in PostgreSQL.

Each daemon looks at the ledger at the same moments as the other one, makes the runs that it decided on in
Dagster's storage, and begins them. No schedule is served: waits, retries and everything else is left to the
sensor. In `make soak` the daemons are processes and it lasts an evening; else they are threads, with engines
and connections of their own.
"""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import dagster as dg
import pytest
import yaml
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.clock import ManualClock
from core.errors import ConflictError
from platform_assets.task_table import TASKS
from resources.settings import load_settings
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.tasks_state import TaskTable
from schedules import run_tags
from schedules.runs.records import DagsterRuns
from schedules.services import Services
from schedules.tasks.native_schedules import in_force
from schedules.tasks.reconciliation import Cursor, Reconciler
from tests.conftest import own_postgres
from tests.schedules.conftest import DATES

BEGIN = datetime(2026, 8, 21, 15, 28)
LOOK = timedelta(minutes=4)
FAILS_FIRST = "fusion_daily_sync"
"""Its first attempt fails, so that a retry comes and others wait for it."""


def sensor(
    number: int, url: str, folder: Path, home: Path, end: datetime, meet: Barrier
) -> list[tuple[str, str]]:
    """(run key, "worked" or "refused") of one sensor until `end`."""
    clock = ManualClock(BEGIN, frozen=False)
    settings = load_settings({"DATA_DIR": str(folder)}, dotenv=folder / "none")
    services = Services(
        settings=settings, clock=clock, calendar=TradeCalendar(DATES), engine=make_engine(url)
    )
    found, cursor = [], None
    with dg.DagsterInstance.from_config(str(home)) as instance:
        while clock.now() < end:
            clock.advance(LOOK)
            now = clock.now()
            meet.wait(120)
            looked = Cursor.read(cursor, now)
            states = in_force(TASKS, services)
            made = Reconciler(services, states, DagsterRuns(instance), served={}).reconcile(looked, now)
            cursor = looked.text(now)
            for request in made.requests:
                key = run_tags.run_key(request.scheduled, request.attempt)
                run_id, outcome = f"{number} {key}", "worked"
                try:
                    services.scheduled_runs.begin(
                        request.scheduled.task, request.scheduled.name, run_id, now=now
                    )
                except ConflictError:
                    outcome = "refused"
                first = request.scheduled.task == FAILS_FIRST and request.attempt == 1
                fails = first or outcome == "refused"
                ended = dg.DagsterRunStatus.FAILURE if fails else dg.DagsterRunStatus.SUCCESS
                tags = run_tags.scheduled_run_tags(
                    request.scheduled, trade_date=request.trade_date, trigger=request.trigger,
                    attempt=request.attempt, owner="sensor", warning=None,
                )  # fmt: skip
                instance.add_run(
                    dg.DagsterRun(request.scheduled.task, run_id=run_id, tags=tags, status=ended)
                )
                found.append((key, outcome))
    services.engine.dispose()
    return found


Pool = Callable[[int], Executor]


def processes(many: int) -> Executor:
    return ProcessPoolExecutor(many, mp_context=multiprocessing.get_context("spawn"))


def evening_of(
    sensors: int, pool: Pool, url: str, folder: Path, home: Path, end: datetime
) -> list[tuple[str, str]]:
    with multiprocessing.Manager() as manager, pool(sensors) as daemons:
        meet = manager.Barrier(sensors)

        def ended(one: Future[list[tuple[str, str]]]) -> None:
            if one.exception() is not None:
                meet.abort()

        begun = [daemons.submit(sensor, n, url, folder, home, end, meet) for n in range(sensors)]
        for one in begun:
            one.add_done_callback(ended)
        wait(begun)
        # Its own error before that of the one that waited for it.
        failures = [one.exception() for one in begun if one.exception() is not None]
        for failure in sorted(failures, key=lambda error: isinstance(error, BrokenBarrierError)):
            raise failure
        return [found for one in begun for found in one.result()]


@contextmanager
def home_of(folder: Path, url: str) -> Iterator[Path]:
    """A DAGSTER_HOME: in PostgreSQL beside MariaDB, in SQLite beside SQLite."""
    # Tables are made by one process, as the supervisor's first start does.
    folder.mkdir()
    if url.startswith("sqlite"):
        (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
        _make_tables(folder)
        yield folder
        return
    pytest.importorskip("dagster_postgres")
    with own_postgres("two_sensors") as address:
        written = {"telemetry": {"enabled": False}, "storage": {"postgres": {"postgres_url": address}}}
        (folder / "dagster.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
        _make_tables(folder)
        yield folder


def _make_tables(home: Path) -> None:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert instance.get_runs() == []
        assert list(instance.all_instigator_state()) == []


@pytest.mark.parametrize(
    ("pool", "end", "least"),
    [
        pytest.param(ThreadPoolExecutor, datetime(2026, 8, 21, 16, 32), 5, id="an hour"),
        pytest.param(
            processes,
            datetime(2026, 8, 21, 22, 30),
            len(TASKS) / 2,
            id="an evening",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_each_attempt_is_worked_on_once(
    url: str, lite: Engine, tmp_path: Path, pool: Pool, end: datetime, least: float
) -> None:
    engine = make_engine(url)
    for one in (engine, lite):
        TaskTable(one).publish(TASKS)
    with home_of(tmp_path / "alone", "sqlite") as home:
        alone = evening_of(1, pool, lite.url.render_as_string(), tmp_path, home, end)
    with home_of(tmp_path / "both", url) as home:
        both = evening_of(2, pool, url, tmp_path, home, end)
        with dg.DagsterInstance.from_config(str(home)) as instance:
            made = instance.get_runs()
    engine.dispose()

    assert Counter(key for key, outcome in both if outcome == "worked") == Counter(key for key, _ in alone)
    assert f"{FAILS_FIRST}:2026-08-21:2" in dict(alone)
    assert len(alone) > least
    succeeded = Counter(
        (run.job_name, run.tags[run_tags.SLOT]) for run in made if run.status is dg.DagsterRunStatus.SUCCESS
    )
    assert set(succeeded.values()) == {1}
    assert len(succeeded) == len(alone) - 1  # the first attempt failed
