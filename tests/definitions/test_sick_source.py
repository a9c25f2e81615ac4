"""A source that is dead for the day stops only what nothing else can bring: the steps after it run, and the
run says what it lacks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.reconstruct import ReconstructableRepository

from resources.warehouse.ledger.commands import Command
from schedules.commands.worker import Worker
from schedules.runs.records import DagsterRuns
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import opened
from tests.definitions.in_process import InProcessRuns

BEFORE, DAY = "2026-07-27", "2026-07-28"  # 600040 goes ex on the second one
JOB, LEDGER, BARS = "fusion_kline_sync", "ref__ref_exright", "dwd__fusion_kline_daily"
SERVES_LISTS = ("bars*", "quotes", "snapshots", "index_bars*", "minutes*", "transactions*")
"""What a terminal server that only serves lists does not answer."""


def rows(services: Services, statement: str) -> list[tuple[Any, ...]]:
    with services.engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement)]


def carried_out(services: Services, runner: InProcessRuns, job: str, day: str) -> Command:
    args = {"job": job, "partition_key": day}
    asked = services.commands.enqueue("run_job", args, requested_by="admin")
    Worker(services, runner).work_once()
    return services.commands.get(asked.id)


def events(runner: InProcessRuns, run_id: str, kind: dg.DagsterEventType) -> set[str]:
    records = runner.instance.get_records_for_run(run_id, of_type={kind}).records
    return {str(record.event_log_entry.dagster_event.step_key) for record in records}  # type: ignore[union-attr]


@pytest.fixture
def day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan, runner: InProcessRuns
) -> Iterator[Services]:
    """The platform at 15:45 of the day, with everything of the day before."""
    with opened(tmp_path, monkeypatch, faults, now=f"{BEFORE}T15:45") as services:
        for job in ("security_list", JOB):
            assert carried_out(services, runner, job, BEFORE).status == "success"
    with opened(tmp_path, monkeypatch, faults, now=f"{DAY}T15:45") as services:
        yield services


def dead(upstream: str, *calls: str) -> list[dict[str, str]]:
    kind = "dead" if upstream == "tdx" else "truncate"
    return [{"upstream": upstream, "call": call, "kind": kind} for call in calls]


NO_LEDGER = [*dead("tdx", "*"), *dead("eastmoney", "*"), *dead("tencent", "bars")]
"""No source of ex-rights, and one of bars: the quote site's batch."""


def bars_of_the_day(services: Services) -> None:
    """All of them, as the quote site has them; the factor of the bank counts its ex-right, which the terminal
    reports."""
    (before,) = rows(services, f"SELECT COUNT(*) FROM fusion_kline_daily WHERE date='{BEFORE}'")
    (stored,) = rows(services, f"SELECT COUNT(*) FROM fusion_kline_daily WHERE date='{DAY}'")
    assert stored[0] >= before[0] - 1 > 70  # the quote site has no code that the terminal alone lists
    columns = "close, last_close, src, adj_factor"
    of_bank = f"WHERE code='600040' AND date='{DAY}'"
    ((*bar, factor),) = rows(services, f"SELECT {columns} FROM fusion_kline_daily {of_bank}")
    assert bar == [6.47, 6.59, "tencent"]
    assert factor == pytest.approx(1.299518, abs=1e-6)


@pytest.mark.parametrize("calls", [SERVES_LISTS, ("*",)], ids=["lists alone", "nothing"])
def test_bars_and_ex_rights_come_from_other_sources_than_the_terminal(
    calls: tuple[str, ...], day: Services, faults: FaultPlan, runner: InProcessRuns
) -> None:
    faults.replace(dead("tdx", *calls))

    command = carried_out(day, runner, JOB, DAY)

    bars_of_the_day(day)
    assert (command.status, command.error) == ("success", None)
    of_day = f"WHERE table_name='ref_exright' AND partition_key='{DAY}'"
    (sources,) = rows(day, f"SELECT sources_json FROM sys_batch {of_day}")
    assert ('"error"' in sources[0]) == ("*" in calls), "and says who did not answer"


def test_bars_are_loaded_without_any_source_of_ex_rights(
    day: Services, faults: FaultPlan, runner: InProcessRuns
) -> None:
    faults.replace(NO_LEDGER)

    command = carried_out(day, runner, JOB, DAY)

    bars_of_the_day(day)
    item = rows(day, f"SELECT code, status FROM ref_exright_item WHERE date='{DAY}'")
    assert item == [("600040", "open")], "the quoted ratio is the factor until a source has the event"
    run_id = str(command.run_id)
    failed = events(runner, run_id, dg.DagsterEventType.STEP_FAILURE)
    made = events(runner, run_id, dg.DagsterEventType.ASSET_MATERIALIZATION)
    assert {BARS, "dwd__fusion_kline_bar", "dwd__fusion_index_daily"} <= made
    assert failed == {LEDGER}
    assert not failed & made, "what was not loaded is no materialization"
    run = runner.instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status is dg.DagsterRunStatus.FAILURE
    assert command.status == "failed"
    assert "loaded in part" in str(command.error)
    fate = runner.fate(run_id)
    assert fate is not None
    assert not fate.lacks_parts, "a whole table is missing"
    ((status, reason),) = rows(day, f"SELECT status, reason FROM sys_slot WHERE run_id='{run_id}'")
    assert status == "partial"
    assert reason.startswith(f"{LEDGER}: ")
    assert all(f"{name}: " in reason for name in ("tdx", "eastmoney"))
    log = rows(day, f"SELECT status, total, success, failed FROM sys_sync_log WHERE run_id='{run_id}'")
    assert log == [("partial", len(made) + 1, len(made), 1)]
    kinds = {dg.DagsterEventType.ASSET_CHECK_EVALUATION}
    evaluations = [
        record.event_log_entry.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
        for record in runner.instance.get_records_for_run(run_id, of_type=kinds).records
    ]
    refused = {
        one.severity for one in evaluations if not one.passed and one.asset_key.path[-1] == "ref_exright"
    }
    assert refused == {dg.AssetCheckSeverity.WARN}, "a blocking check stops for wrong rows, not for a source"


@pytest.fixture
def launched(runner: InProcessRuns) -> Any:
    """The job as the code server executes what the UI launches."""
    module = ReconstructableRepository.for_module("schedules.code_location", "defs", str(Path.cwd()))
    return module.get_reconstructable_job(JOB)


def test_a_run_of_the_ui_does_the_same_and_is_taken_up_from_its_failure(
    day: Services, faults: FaultPlan, runner: InProcessRuns, launched: Any
) -> None:
    faults.replace(NO_LEDGER)
    tags = {"dagster/partition": DAY}
    first = dg.execute_job(launched, runner.instance, tags=tags)

    assert not first.success
    assert DagsterRuns(runner.instance).fate(first.run_id).status == "partial"  # type: ignore[union-attr]
    assert BARS in events(runner, first.run_id, dg.DagsterEventType.ASSET_MATERIALIZATION)

    again = dg.ReexecutionOptions.from_failure(first.run_id, runner.instance)
    second = dg.execute_job(launched, runner.instance, tags=tags, reexecution_options=again)

    # And what was made without it is made again.
    begun = events(runner, second.run_id, dg.DagsterEventType.STEP_START)
    assert {LEDGER, BARS, "dwd__fusion_kline_bar"} <= begun
    assert "dwd__fusion_index_daily" not in begun
