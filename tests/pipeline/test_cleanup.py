"""Staged time series are shortened by their date; everything else stays, and every delete has its batch."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.columns import columns_from
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from core.errors import InputError, StorageError
from platform_assets.pipeline.cleanup import cleanup
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources.warehouse import retention
from resources.warehouse.retention import Retention, cutoff, scheduled_days
from resources.warehouse.warehouse import Warehouse

OLD = ("2023-08-21", "2023-08-22", "2025-08-20")
KEPT = ("2025-08-21", "2026-08-21")
DAYS = 365
FUSED = "fusion_margin"
TIMED = Table(
    name="stg_timed",
    layer=Layer.STG,
    columns=columns_from("code:code at:dt"),
    key=("code", "at", "src"),
    date_column="at",
)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[PipelineRun]:
    with opened(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path) as made:
        yield made


@pytest.fixture
def on_both(warehouse_url: str, tmp_path: Path) -> Iterator[PipelineRun]:
    with opened(warehouse_url, tmp_path) as made:
        yield made


@contextmanager
def opened(warehouse_url: str, tmp_path: Path) -> Iterator[PipelineRun]:
    """Five dates in every staged time series and in one fused table, one row in each dimension."""
    clock = ManualClock(datetime(2026, 8, 21, 4, 30))
    registry = builtin_registry()
    tables = [registry.of_table(FUSED).table, TIMED]
    tables += [*registry.staged_series(), *registry.staged_dimensions()]
    warehouse = Warehouse(warehouse_url, tables, clock=clock, payload_folder=tmp_path)
    warehouse.migrate()
    with warehouse.engine.begin() as connection:
        for table in tables:
            columns = tuple(dict.fromkeys([*table.key, *filter(None, [table.date_column])]))
            rows = [_row(table, columns, day) for day in ((*OLD, *KEPT) if table.date_column else ("",))]
            connection.exec_driver_sql(warehouse.sql.insert(table.name, columns), rows)
            counted = (len(rows), KEPT[-1] if table.date_column else None, table.name)
            statement = "UPDATE table_version SET row_count=?, latest_date=? WHERE table_name=?"
            connection.exec_driver_sql(warehouse.sql.text(statement), counted)
    yield PipelineRun(
        registry=registry,
        warehouse=warehouse,
        ctx=cast(Any, None),
        calendar=shipped_calendar(),
        clock=clock,
        trigger=Trigger("api", "data_cleanup", "run-1", 7),
    )
    warehouse.close()


def _row(table: Table, columns: tuple[str, ...], day: str) -> tuple[str, ...]:
    """Key and date of a row on `day`; a column of times has the last second of the day. Where the date is no
    part of the key, the code distinguishes the rows."""
    values = {name: "2020-12-31" if table.column(name).family == "date" else "x" for name in columns}
    if table.date_column:
        values[table.date_column] = f"{day} 23:59:59" if table.timed else day
        if table.date_column not in table.key:
            values["code"] = day
    return tuple(values.values())


def days_of(run: PipelineRun, table: Table) -> list[str]:
    rows = run.warehouse.query(f"SELECT {table.date_column} FROM {table.name} ORDER BY 1")
    return [str(row[0])[:10] for row in rows]


def test_rows_older_than_the_cutoff_go_and_nothing_else_does(on_both: PipelineRun) -> None:
    series = on_both.registry.staged_series()
    before = on_both.warehouse.versions()

    answer = cleanup(on_both, days=DAYS)

    assert (answer["status"], answer["cutoff"], answer["days"]) == ("success", KEPT[0], DAYS)
    assert answer["deleted"] == {table.name: len(OLD) for table in series}
    assert answer["total"] == len(OLD) * len(series)
    assert all(days_of(on_both, table) == list(KEPT) for table in series)
    assert days_of(on_both, on_both.warehouse.table(FUSED)) == [*OLD, *KEPT]
    for table in on_both.registry.staged_dimensions():
        assert on_both.warehouse.query(f"SELECT COUNT(*) FROM {table.name}") == [(1,)]
    after = on_both.warehouse.versions()
    for table in series:
        assert after[table.name]["version"] > before[table.name]["version"]
        assert (after[table.name]["row_count"], after[table.name]["latest_date"]) == (len(KEPT), KEPT[-1])
        # Deleting brings nothing new: freshness must not take it for a load.
        assert after[table.name]["confirmed_at"] is None
    assert after[FUSED] == before[FUSED]


def test_every_delete_is_a_batch_that_says_what_went(run: PipelineRun) -> None:
    cleanup(run, days=DAYS, tables=("stg_margin",))

    ((table, key, status, trigger, ref, run_id, command, written, checks),) = run.warehouse.query(
        "SELECT table_name, partition_key, status, trigger_type, trigger_ref, run_id, command_id, "
        "rows_written, checks_json FROM sys_batch"
    )
    assert (table, key, status) == ("stg_margin", f"{OLD[0]}..{OLD[-1]}", "success")
    assert (trigger, ref, run_id, command, written) == ("api", "data_cleanup", "run-1", 7, 0)
    assert json.loads(checks) == {"rows_removed": len(OLD)}


def test_a_second_cleanup_finds_nothing_and_writes_nothing(run: PipelineRun) -> None:
    cleanup(run, days=DAYS)
    before = run.warehouse.versions()

    answer = cleanup(run, days=DAYS)

    assert (answer["status"], answer["total"]) == ("success", 0)
    assert set(answer["deleted"].values()) == {0}
    assert run.warehouse.versions() == before


def test_a_transaction_deletes_whole_dates_up_to_its_limit(
    run: PipelineRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_ROWS", 2)
    table = run.warehouse.table("stg_margin")

    parts = list(Retention(run.warehouse.engine, run.clock).remove(table, KEPT[0], {}))

    assert [(part.first, part.last, part.rows) for part in parts] == [
        (OLD[0], OLD[1], 2),
        (OLD[2], OLD[2], 1),
    ]


def test_a_column_of_times_is_cut_at_midnight(on_both: PipelineRun) -> None:
    kept = Retention(on_both.warehouse.engine, on_both.clock)

    assert kept.count(TIMED, KEPT[0]) == len(OLD)
    assert sum(part.rows for part in kept.remove(TIMED, KEPT[0], {})) == len(OLD)
    assert days_of(on_both, TIMED) == list(KEPT)


def test_an_emptied_table_has_no_newest_date(run: PipelineRun) -> None:
    list(Retention(run.warehouse.engine, run.clock).remove(TIMED, "2027-01-01", {}))

    version = run.warehouse.versions()[TIMED.name]
    assert (version["row_count"], version["latest_date"]) == (0, None)


def test_a_stop_between_two_transactions_keeps_what_was_deleted(
    run: PipelineRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_ROWS", 1)
    genuine, deleted = retention.end_batch, []

    def interrupted(*given: Any, **named: Any) -> None:
        genuine(*given, **named)
        deleted.append(given)
        if len(deleted) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(retention, "end_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cleanup(run, days=DAYS, tables=("stg_margin",))

    assert days_of(run, run.warehouse.table("stg_margin")) == [*OLD[1:], *KEPT]


def test_a_table_that_cannot_be_cleaned_hurts_no_other(
    run: PipelineRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Retention.remove

    def sometimes(self: Retention, table: Table, before: str, facts: Any) -> Any:
        if table.name == "stg_margin":
            raise StorageError("disk I/O error")
        return whole(self, table, before, facts)

    monkeypatch.setattr(Retention, "remove", sometimes)
    answer = cleanup(run, days=DAYS)
    alone = cleanup(run, days=DAYS, tables=("stg_margin",))

    assert (answer["status"], "stg_margin" in answer["deleted"]) == ("partial", False)
    assert answer["deleted"]["stg_valuation"] == len(OLD)
    assert "stg_margin: disk I/O error" in answer["message"]
    assert (alone["status"], alone["deleted"]) == ("failed", {})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stg_stock_master", "is a dimension and never shortened; allowed: .*stg_margin"),
        (FUSED, "is no staging table"),
        ("raw_margin", "is no staging table"),
        ("sys_batch", "is no staging table"),
    ],
)
def test_other_tables_are_refused_by_name(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        builtin_registry().cleaned(name)


def test_the_deletes_themselves_refuse_what_is_not_staged(run: PipelineRun) -> None:
    kept = Retention(run.warehouse.engine, run.clock)
    for table in (run.warehouse.table(FUSED), replace(TIMED, date_column=None)):
        with pytest.raises(InputError, match="is never shortened"):
            list(kept.remove(table, KEPT[0], {}))
        with pytest.raises(InputError, match="is never shortened"):
            kept.count(table, KEPT[0])


def test_at_least_thirty_days_are_kept() -> None:
    today = date(2026, 8, 21)

    assert cutoff(today, 30) == "2026-07-22"
    for days in (29, 0, -1, 40_000):
        with pytest.raises(InputError, match="days: "):
            cutoff(today, days)


def test_the_scheduled_retention_is_the_stored_setting() -> None:
    assert scheduled_days({}) == 1095
    assert scheduled_days({"data.cleanup.retention_days": "400"}) == 400
    for text in ("", "-5", "1e3", "many"):
        with pytest.raises(InputError, match="is no number of days"):
            scheduled_days({"data.cleanup.retention_days": text})
