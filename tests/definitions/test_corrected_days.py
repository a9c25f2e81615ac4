"""A day that turned out otherwise than the calendar had said: its rows are withdrawn with their history, and
what was made over it is made again."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from resources.composition import open_warehouse
from resources.stored_calendar import stored_calendar
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from schedules.commands.worker import Worker
from schedules.services import Services
from schedules.tasks.missing_dates_sensor import GapKeeper
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK, opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out, rows

FIRST, THURSDAY, FRIDAY, SATURDAY = "2026-08-03", "2026-08-20", "2026-08-21", "2026-08-22"


def published(services: Services, day: str, *, is_open: bool, corrected_on: str | None) -> None:
    """What the exchange says of a day by now, in the stored calendar that every process follows."""
    clock = FrozenClock(datetime.fromisoformat(f"{SATURDAY}T08:15"))
    warehouse = open_warehouse(services.settings, builtin_registry(), clock)
    row = {
        "market": "CN",
        "date": day,
        "is_open": is_open,
        "is_confirmed": True,
        "corrected_on": corrected_on,
    }
    table = warehouse.table("ref_trade_calendar")
    warehouse.writer.write(
        table,
        pd.DataFrame([row]),
        where=Slice.of_date("date", day),
        batch=Batch(partition_key=day, world=services.settings.world),
    )
    warehouse.close()
    stored_calendar(services.settings).look_now()


def weeks(services: Services) -> dict[str, tuple[int, float]]:
    """End of each week -> traded days and close of the bank."""
    found = rows(
        services,
        f"SELECT date, bar_count, close FROM fusion_kline_bar WHERE period='week' AND code='{BANK}' "
        f"AND date>='{THURSDAY}'",
    )
    return {str(day): (count, close) for day, count, close in found}


def close_of(services: Services, day: str) -> float:
    ((close,),) = rows(services, f"SELECT close FROM fusion_kline_daily WHERE code='{BANK}' AND date='{day}'")
    return float(close)


def look_and_work(services: Services, runner: InProcessRuns) -> list[tuple[Any, ...]]:
    """(job, first, last date) of what the sensor asks for, after all of it and what follows is done."""
    GapKeeper(services, calls_per_day=0).look(services.clock.now())
    worker = Worker(services, runner)
    while worker.work_once():
        pass
    asked = rows(services, "SELECT args_json FROM sys_command WHERE requested_by<>'admin' ORDER BY id")
    found = [json.loads(text) for (text,) in asked]
    return [(args["job"], *args["partition_range"]) for args in found]


@pytest.fixture
def friday(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: InProcessRuns, request: pytest.FixtureRequest
) -> Iterator[Services]:
    """The platform on Saturday, with bars of the month and what else Friday had. `request.param`: a day that
    is taken for closed when they are loaded."""
    with opened(tmp_path, monkeypatch, FaultPlan(), now=f"{FRIDAY}T21:30") as services:
        carried_out(services, runner, "security_list", partition_key=FRIDAY)
        if request.param:
            published(services, request.param, is_open=False, corrected_on=None)
        done = carried_out(services, runner, "history", partition_range=[FIRST, FRIDAY])
        assert (done.status, done.error) == ("success", None)
        carried_out(services, runner, "market_phase_sync", partition_key=FRIDAY)
    with opened(tmp_path, monkeypatch, FaultPlan(), now=f"{SATURDAY}T10:00") as services:
        yield services


@pytest.mark.parametrize("friday", [""], indirect=True)
def test_rows_of_a_day_that_was_closed_are_withdrawn_and_its_week_is_made_again(
    friday: Services, runner: InProcessRuns
) -> None:
    before, known = weeks(friday), close_of(friday, FRIDAY)
    assert before == {FRIDAY: (5, known)}
    published(friday, FRIDAY, is_open=False, corrected_on=SATURDAY)

    asked = look_and_work(friday, runner)

    assert asked == [("corrected_days", THURSDAY, THURSDAY), ("made_again", THURSDAY, THURSDAY)]
    dates = {"fusion_kline_daily": "date", "fusion_index_daily": "date", "raw_limit_pool": "trade_date"}
    dates |= dict.fromkeys(("calc_limit_count", "calc_market_phase"), "trade_date")
    for table, day in dates.items():
        assert rows(friday, f"SELECT COUNT(*) FROM {table} WHERE {day}='{FRIDAY}'") == [(0,)], table
    assert weeks(friday) == {THURSDAY: (4, close_of(friday, THURSDAY))}
    # What was read before the correction can still be read as it was.
    warehouse = open_warehouse(friday.settings, builtin_registry(), friday.clock)
    where = Slice.of_date("date", FRIDAY)
    then = warehouse.frame("fusion_kline_daily", where=where, as_of=f"{SATURDAY} 09:00:00")
    assert then.set_index("code")["close"][BANK] == known
    assert warehouse.frame("fusion_kline_daily", where=where, as_of=f"{SATURDAY} 10:30:00").empty
    withdrawn = rows(
        friday,
        "SELECT message FROM sys_quality_record WHERE check_name='misplaced' AND "
        f"table_name='fusion_kline_daily' AND partition_key='{FRIDAY}'",
    )
    assert withdrawn == [(f"{FRIDAY} turned out to be no trade date",)]
    warehouse.close()


@pytest.mark.parametrize("friday", [THURSDAY], indirect=True)
def test_a_day_that_was_open_is_loaded_and_its_week_is_made_again(
    friday: Services, runner: InProcessRuns
) -> None:
    assert weeks(friday)[FRIDAY][0] == 4
    published(friday, THURSDAY, is_open=True, corrected_on=SATURDAY)

    found = GapKeeper(friday, calls_per_day=0).look(friday.clock.now())
    assert found.outdated["trade_calendar"] == [THURSDAY]
    (command,) = friday.commands.of_name("run_job", statuses=("queued",))
    assert (command.args["job"], command.args["partition_range"]) == ("whole_day", [THURSDAY, THURSDAY])
    friday.commands.cancel(command.id)  # a part of it is enough here
    carried_out(friday, runner, "history", partition_range=[THURSDAY, THURSDAY])
    asked = look_and_work(friday, runner)

    assert asked[-2:] == [("corrected_days", THURSDAY, FRIDAY), ("made_again", THURSDAY, FRIDAY)]
    assert weeks(friday) == {FRIDAY: (5, close_of(friday, FRIDAY))}


@pytest.mark.parametrize("friday", [""], indirect=True)
def test_an_open_week_whose_end_turns_out_another_is_one_bar(friday: Services, runner: InProcessRuns) -> None:
    """The last trade date of August lies ahead: its bar is written under the date that is expected."""
    days = ("2026-08-28", "2026-08-31")
    published(friday, days[1], is_open=False, corrected_on=SATURDAY)

    asked = look_and_work(friday, runner)

    assert asked == [("corrected_days", FRIDAY, FRIDAY), ("made_again", FRIDAY, FRIDAY)]
    months = rows(
        friday,
        f"SELECT DISTINCT date FROM fusion_kline_bar WHERE period='month' AND date>='{FRIDAY}' ORDER BY date",
    )
    assert [str(day) for (day,) in months] == [days[0]]
