"""Partitions are trade dates: what is none is refused by its name, and what a run leaves in Dagster's history
does not repeat the calendar."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import dagster as dg
import pytest

from core.clock import SystemClock
from platform_assets.definitions.partitions import trade_dates
from resources.orchestrator import RANGE_END, RANGE_START
from schedules.code_location import defs
from schedules.runs.records import DagsterRuns
from schedules.services import Services
from tests.definitions.in_process import InProcessRuns

MOST_BYTES = 1024
SATURDAY = "2026-08-15"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The history of one planned range of sixty trade dates: nothing is executed."""
    folder = tmp_path_factory.mktemp("dagster")
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        instance.create_run_for_job(
            defs.resolve_job_def("history"), tags={RANGE_START: "2026-05-29", RANGE_END: "2026-08-21"}
        )
    return folder


def stored(home: Path, query: str) -> list[tuple[int, str]]:
    return [row for path in sorted(home.rglob("*.db")) for row in _rows(path, query)]


def _rows(path: Path, query: str) -> list[tuple[int, str]]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.execute(query))
    except sqlite3.OperationalError:
        return []  # another one of Dagster's files
    finally:
        connection.close()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT LENGTH(event), event FROM event_logs",
        "SELECT LENGTH(evaluation_event), evaluation_event FROM asset_check_executions",
    ],
)
def test_what_a_run_plans_is_small(home: Path, query: str) -> None:
    found = stored(home, query)

    assert found
    size, text = max(found)
    assert size <= MOST_BYTES, text


def test_a_check_of_a_range_is_planned_once(home: Path) -> None:
    planned = stored(
        home, "SELECT COUNT(*), check_name FROM asset_check_executions GROUP BY asset_key, check_name"
    )

    assert planned
    assert {count for count, _ in planned} == {1}


def test_a_run_does_not_carry_the_calendar(home: Path) -> None:
    ((size, _),) = stored(home, "SELECT LENGTH(run_body), run_body FROM runs")

    assert size <= 4 * MOST_BYTES


def test_the_keys_are_the_trade_dates_up_to_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda _self: datetime(2026, 8, 17, 0, 0, 1))

    assert list(trade_dates().get_partition_keys()[-2:]) == ["2026-08-14", "2026-08-17"]
    assert trade_dates().get_partition_keys()[0] == "2016-08-01"


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (SATURDAY, f"partition: '{SATURDAY}' is no trade date; the last one before it is 2026-08-14"),
        ("2031-01-02", "partition: '2031-01-02' is outside 2016-08-01.."),
        ("newest", "partition: 'newest' is outside 2016-08-01.."),
    ],
)
def test_a_partition_that_does_not_exist_is_refused_by_its_name(
    services: Services, runner: InProcessRuns, day: str, said: str
) -> None:
    """As the UI's API asks for it: nobody has looked at the tags before."""
    result = run(runner, {"dagster/partition": day})

    assert not result.success
    assert said in DagsterRuns(runner.instance).fate(result.run_id).reason
    assert batches(services) == []


def test_a_range_that_ends_on_none_is_refused_before_there_is_a_run(
    services: Services, runner: InProcessRuns
) -> None:
    with pytest.raises(dg.DagsterInvalidInvocationError, match=SATURDAY):
        run(runner, {RANGE_START: SATURDAY, RANGE_END: "2026-08-21"})

    assert batches(services) == []


def test_a_range_with_a_hole_loads_its_trade_dates_and_names_the_others(
    services: Services, runner: InProcessRuns, capfd: pytest.CaptureFixture[str]
) -> None:
    result = run(runner, {RANGE_START: "2026-08-14", RANGE_END: "2026-08-17"})

    assert result.success
    assert batches(services) == ["2026-08-14", "2026-08-17"]
    assert "no trade dates: 2026-08-15, 2026-08-16" in capfd.readouterr().err


def run(runner: InProcessRuns, tags: dict[str, str]) -> dg.ExecuteInProcessResult:
    job = defs.resolve_job_def("index_daily_sync")
    return job.execute_in_process(instance=runner.instance, tags=tags, raise_on_error=False)


def batches(services: Services) -> list[str]:
    with services.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT partition_key FROM sys_batch WHERE table_name='fusion_index_daily' "
            "AND status='success' AND rows_ok>0 ORDER BY 1"
        )
        return [str(row[0]) for row in rows if ".." not in str(row[0])]
