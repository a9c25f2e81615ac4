"""A value whose table is not loaded of the date is missing and marked, its row is not; it is asked for again
when the table is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.declaration.columns import Code, Date, F, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.registry import builtin_registry
from core.declaration.rules import Needed
from core.errors import DeclarationError
from schedules.commands.worker import Worker
from schedules.services import Services
from schedules.tasks.missing_dates_sensor import GapKeeper
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_empty_partition import materialized
from tests.definitions.test_sync_runs import carried_out, rows

BEFORE, DAY = "2026-08-20", "2026-08-21"
REGISTRY = builtin_registry()


@contextmanager
def at(folder: Path, time: str) -> Iterator[Services]:
    """The platform at a time of the evening."""
    with (
        pytest.MonkeyPatch.context() as patch,
        opened(folder, patch, FaultPlan(), now=f"{DAY}T{time}") as made,
    ):
        yield made


def filled(services: Services, table: str, day: str, columns: tuple[str, ...]) -> list[bool]:
    """Whether each column has a value on the date."""
    date = REGISTRY.of_table(table).date_column
    counts = ", ".join(f"COUNT({name})" for name in columns)
    (found,) = rows(services, f"SELECT {counts} FROM {table} WHERE {date}='{day}'")
    return [bool(count) for count in found]


@pytest.mark.parametrize(
    ("name", "day", "needed", "loader"),
    [
        ("margin", BEFORE, "fusion_kline_daily", "fusion_kline_sync"),
        ("fund_flow", DAY, "fusion_kline_daily", "fusion_kline_sync"),
        ("market_cloud_map", DAY, "raw_limit_pool", "market_phase_sync"),
    ],
)
def test_a_value_waits_for_its_table_and_the_row_does_not(
    tmp_path: Path, runner: InProcessRuns, name: str, day: str, needed: str, loader: str
) -> None:
    dataset = REGISTRY.dataset(name)
    (columns,) = (one.columns for one in dataset.needs if one.table == needed)
    table = dataset.table_name
    with at(tmp_path, "21:30") as services:
        carried_out(services, runner, "security_list", partition_key=day)
        command = carried_out(services, runner, name, partition_key=day)

        assert command.status == "success"
        assert day in materialized(runner, "dwd", table)
        assert not any(filled(services, table, day, columns))
        where = f"table_name='{table}' AND check_name='not_loaded' AND partition_key='{day}'"
        ((message,),) = rows(services, f"SELECT message FROM sys_quality_record WHERE {where}")
        assert message == f"{', '.join(columns)}: {needed} is not loaded of {day}"
    with at(tmp_path, "22:00") as services:
        assert name not in look(services), "nothing has come that would fill it"
        carried_out(services, runner, loader, partition_key=day)
        assert look(services)[name] == [day]
    with at(tmp_path, "22:30") as services:
        worker = Worker(services, runner)
        while worker.work_once():
            pass

        assert all(filled(services, table, day, columns))
        assert name not in look(services)


def look(services: Services) -> dict[str, list[str]]:
    """What the sensor of gaps asks for again."""
    return GapKeeper(services, calls_per_day=0).look(services.clock.now()).outdated


class Row(Model):
    """One row."""

    code: Code = key("security code")
    date: Date = key("trade date")
    wanted: F = col("", "needs another table", nullable=False)
    loose: F = col("", "may be null")


@pytest.mark.parametrize(
    "needs", [Needed("fusion_other", ("loose",)), Needed("fusion_kline_daily", ("wanted",))]
)
def test_what_cannot_be_missing_cannot_need_a_table(needs: Needed) -> None:
    with pytest.raises(DeclarationError, match="`needs` names tables that are not read, or columns"):
        Dataset(
            name="row",
            model=Row,
            sources=(Source("portal", lambda ctx, scope: ctx),),
            reads=("fusion_kline_daily",),
            needs=(needs,),
        )
