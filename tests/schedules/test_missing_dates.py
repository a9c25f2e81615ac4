"""The sensor's look at gaps: what is found, asked for, settled and given up, within the day's calls."""

import json
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from platform_assets.task_table import TASKS
from resources.settings import load_settings
from resources.warehouse.engine import reading, transaction
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.gaps import REPAIRED_BY, Gaps
from resources.warehouse.ledger.loads import Tried
from resources.warehouse.ledger.missing_partitions import usual_rows
from resources.warehouse.sql import Sql
from schedules.services import Services
from schedules.tasks.missing_dates_sensor import GapKeeper

DAYS = ("2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")
INDEX = "index_daily"


@pytest.fixture
def services(lite: Engine, tmp_path: Path) -> Services:
    """A house with the whole calendar."""
    return opened(lite, tmp_path)


@pytest.fixture
def both(engine: Engine, tmp_path: Path) -> Services:
    """The same on either engine."""
    return opened(engine, tmp_path)


def opened(engine: Engine, tmp_path: Path) -> Services:
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    clock = ManualClock(datetime(2026, 8, 21, 15, 0), frozen=False)
    return Services(settings=settings, clock=clock, calendar=shipped_calendar(), engine=engine)


def batch(services: Services, day: str, rows: int = 7, *, status: str = "success", calls: int = 0) -> None:
    sql, batch_id = Sql(services.engine), uuid.uuid4().hex
    values = {
        "batch_id": batch_id,
        "table_name": f"fusion_{INDEX}",
        "partition_key": day,
        "status": status,
        "rows_ok": rows,
        "started_at": f"{day} 15:45:00",
    }
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(sql.insert("sys_batch", list(values)), tuple(values.values()))
        for _ in range(calls):
            fetch = {"fetch_id": uuid.uuid4().hex, "batch_id": batch_id, "upstream": "tencent"}
            connection.exec_driver_sql(sql.insert("sys_fetch", list(fetch)), tuple(fetch.values()))


def commands(services: Services) -> list[dict[str, Any]]:
    with reading(services.engine) as connection:
        rows = connection.exec_driver_sql("SELECT args_json FROM sys_command ORDER BY id").all()
    return [json.loads(text) for (text,) in rows]


def now_of(services: Services, text: str) -> datetime:
    assert isinstance(services.clock, ManualClock)
    services.clock.at = datetime.fromisoformat(text)
    return services.clock.at


def statuses(services: Services) -> dict[str, str]:
    return {day: gap.status for (_, day), gap in Gaps(services.engine).of(INDEX).items()}


def test_the_newest_gaps_that_the_calls_pay_for_are_asked_for_and_closed(both: Services) -> None:
    services = both
    now = now_of(services, "2026-08-21T16:00")
    batch(services, DAYS[0], calls=3)
    batch(services, DAYS[3])
    keeper = GapKeeper(services, calls_per_day=10)

    found = keeper.look(now)

    # Three dates are missing; three calls each (of two loads 1.5) leave enough for all of them.
    assert found.missing == {INDEX: 3}
    assert found.asked == {INDEX: [DAYS[1], DAYS[2], DAYS[4]]}
    (asked,) = commands(services)
    repair = Backfills(services.engine).get(asked["backfill_id"])
    assert (repair.days, repair.requested_by) == ((DAYS[1], DAYS[2], DAYS[4]), REPAIRED_BY)
    assert asked["table"] == "fusion_index_daily"
    # While it is under way nothing more is asked for.
    assert keeper.look(now + timedelta(minutes=10)).asked == {}
    for day in (DAYS[1], DAYS[2], DAYS[4]):
        batch(services, day)
    assert keeper.look(now + timedelta(minutes=20)).missing == {}
    assert statuses(services) == {DAYS[1]: "repaired", DAYS[2]: "repaired", DAYS[4]: "repaired"}


def test_the_newest_date_is_left_to_the_task_that_loads_it_until_its_run_has_ended(both: Services) -> None:
    services = both
    services.tasks.publish(TASKS)
    for day in DAYS[:3]:
        batch(services, day)
    keeper = GapKeeper(services)

    before = keeper.look(now_of(services, "2026-08-21T15:37"))
    under_way = keeper.look(now_of(services, "2026-08-21T15:47"))
    task = next(task for task in TASKS if task.key == "fusion_kline_sync")
    run = task.scheduled_run(datetime(2026, 8, 21, 15, 40))
    services.scheduled_runs.set_aside(run, "missed", "the machine was off", trade_date=DAYS[4])
    after = keeper.look(now_of(services, "2026-08-21T15:57"))

    assert (before.missing, before.asked) == ({INDEX: 1}, {INDEX: [DAYS[3]]})
    assert under_way.missing == {INDEX: 1}
    assert after.missing == {INDEX: 2}


def test_the_budget_of_a_day_is_kept_and_new_on_the_next(services: Services) -> None:
    now = now_of(services, "2026-08-21T16:00")
    batch(services, DAYS[0], calls=4)
    keeper = GapKeeper(services, calls_per_day=9)

    first = keeper.look(now)

    assert (first.asked, first.calls_left) == ({INDEX: [DAYS[3], DAYS[4]]}, 1)
    (asked,) = commands(services)
    Backfills(services.engine).settle(asked["backfill_id"], "success", now=now)
    carried_out = services.commands.claim("w")
    assert carried_out is not None
    services.commands.finish(carried_out, "success")
    for day in DAYS[3:]:
        batch(services, day)
    assert keeper.look(now + timedelta(minutes=10)).asked == {}
    later = keeper.look(now_of(services, "2026-08-22T09:00"))
    assert later.asked == {INDEX: [DAYS[1], DAYS[2]]}


def test_a_gap_that_repairs_do_not_close_is_tried_thrice_and_given_up(services: Services) -> None:
    now = now_of(services, "2026-08-21T16:00")
    for day in DAYS[:4]:
        batch(services, day)
    batch(services, DAYS[4], 0, status="failed")
    keeper, ledger = GapKeeper(services), Backfills(services.engine)

    tries = []
    for hours in range(0, 40):
        at = now + timedelta(hours=hours)
        if keeper.look(at).asked:
            tries.append(hours)
            failed = replace(
                ledger.get(commands(services)[-1]["backfill_id"]),
                status="failed",
                run_ids=(f"run-{hours}",),
                failures={DAYS[4]: "the upstream is silent"},
            )
            ledger.show(failed, at=at)
            carried_out = services.commands.claim("w")
            assert carried_out is not None
            services.commands.finish(carried_out, "success")

    gap = Gaps(services.engine).of(INDEX)[INDEX, DAYS[4]]
    assert tries == [0, 2, 7]
    assert (gap.status, gap.attempts, gap.run_id) == ("given_up", 3, "run-7")
    assert (gap.reason, gap.note) == ("failed", "the upstream is silent")
    # When it is loaded after all, it is closed; when it is lost again, it is a new gap.
    batch(services, DAYS[4])
    keeper.look(now + timedelta(hours=41))
    assert statuses(services)[DAYS[4]] == "repaired"


@pytest.mark.parametrize(
    ("counts", "usual"),
    [((90, 91, 3, 92), 90), ((4, 900, 20, 700, 1, 300), None), ((7, 7, 1), 7), ((), None)],
)
def test_numbers_that_vary_widely_are_nature(counts: tuple[int, ...], usual: int | None) -> None:
    found = {f"2026-08-{day:02d}": Tried(rows, 0) for day, rows in enumerate(counts, start=3)}

    assert usual_rows(builtin_registry().dataset("margin"), found) == usual
