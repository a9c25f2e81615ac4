"""A run that is interrupted, as *Terminate* does it: whole partitions stay, locks are free. That a canceled
command has its run terminated is in test_run_processes."""

from collections.abc import Callable
from typing import Any

import dagster as dg
import pytest
from dagster._utils import send_interrupt

from resources.warehouse.ledger.commands import Command
from resources.warehouse.writer import Writer
from schedules.commands.worker import Worker
from schedules.services import Services
from tests.definitions.in_process import InProcessRuns

DAYS = ("2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")
BARS = "fusion_kline_daily"
Row = tuple[Any, ...]


def during_writes(monkeypatch: pytest.MonkeyPatch, table: str, count: int, act: Callable[[], object]) -> None:
    """Call `act` once, when `count` partitions of a table have been written, each in a transaction of its
    own as those of a large market are."""
    monkeypatch.setattr("platform_assets.pipeline.batches.MAX_ROWS", 1)
    genuine = Writer.write_all
    seen: list[str] = []

    def write_all(self: Writer, declared: Any, *given: Any, **named: Any) -> Any:
        results = genuine(self, declared, *given, **named)
        if declared.name == table:
            before = len(seen)
            seen.extend(result.partition_key for result in results)
            if before < count <= len(seen):
                act()
        return results

    monkeypatch.setattr(Writer, "write_all", write_all)


def interrupt(runner: InProcessRuns) -> None:
    """What *Terminate* does: Dagster marks the run and interrupts its process."""
    run = next(run for run in runner.instance.get_runs() if not run.is_finished)
    runner.instance.report_run_canceling(run)
    send_interrupt()


def ask(services: Services, **args: Any) -> Command:
    return services.commands.enqueue("run_job", args, requested_by="admin")


def rows(services: Services, statement: str) -> list[Row]:
    with services.engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement)]


def prepared(services: Services, runner: InProcessRuns) -> Worker:
    """A worker on a warehouse that knows its securities."""
    worker = Worker(services, runner, instance=runner.instance)
    listed = ask(services, job="security_list", partition_key=DAYS[-1])
    worker.work_once()
    assert services.commands.get(listed.id).status == "success"
    return worker


@pytest.mark.soak
def test_a_canceled_range_keeps_whole_partitions_and_frees_everything(
    services_of_each_engine: Services, runner: InProcessRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_of_each_engine
    worker = prepared(services, runner)
    asked = ask(services, job="history", partition_range=[DAYS[0], DAYS[-1]])
    during_writes(monkeypatch, BARS, 2, lambda: interrupt(runner))

    worker.work_once()

    done = services.commands.get(asked.id)
    assert (done.status, done.error) == ("canceled", "its run was terminated")
    run = runner.instance.get_run_by_id(str(done.run_id))
    assert run is not None
    assert run.status is dg.DagsterRunStatus.CANCELED
    slot = services.scheduled_runs.latest()["history"]
    assert (slot.status, slot.reason) == ("canceled", "its run was terminated")
    assert not any(state.held for state in services.locks.states())
    written = dict(rows(services, f"SELECT date, COUNT(*) FROM {BARS} GROUP BY date"))
    assert {str(day) for day in written} == set(DAYS[:2])
    batches = rows(
        services,
        "SELECT partition_key, rows_written, status, parent_batch_id IS NULL, error FROM sys_batch "
        f"WHERE table_name='{BARS}' ORDER BY parent_batch_id IS NULL, partition_key",
    )
    assert [tuple(row[:3]) for row in batches[:2]] == [
        (day, written[key], "success") for day, key in zip(DAYS[:2], sorted(written), strict=True)
    ]
    ((key, total, status, is_parent, error),) = batches[2:]
    assert (key, total, status) == (f"{DAYS[0]}..{DAYS[-1]}", sum(written.values()), "failed")
    assert (bool(is_parent), error) == (True, "interrupted")
    assert rows(services, "SELECT COUNT(*) FROM sys_batch WHERE status='running'") == [(0,)]

    # What was canceled can be asked for again, and ends as if nothing had been.
    again = ask(services, job="history", partition_range=[DAYS[0], DAYS[-1]])
    worker.work_once()
    assert services.commands.get(again.id).status == "success"
    assert len(rows(services, f"SELECT DISTINCT date FROM {BARS}")) == len(DAYS)


def test_a_canceled_fusion_gives_back_its_locks_and_starts_no_other_job(
    services: Services, runner: InProcessRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = prepared(services, runner)
    asked = services.commands.enqueue("fusion_sync", {"date": DAYS[-1]}, requested_by="admin")
    during_writes(monkeypatch, BARS, 1, lambda: interrupt(runner))

    worker.work_once()

    done = services.commands.get(asked.id)
    assert (done.status, done.result["locked"]) == ("canceled", True)
    assert len(done.result["runs"]) == 1
    assert not any(state.held for state in services.locks.states())


def test_a_download_is_canceled_between_two_of_its_types(
    services: Services, runner: InProcessRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = prepared(services, runner)
    asked = services.commands.enqueue(
        "download", {"codes": ["600040"], "types": ["quote", "fund_flow"]}, requested_by="admin"
    )
    during_writes(monkeypatch, "raw_quote", 1, lambda: interrupt(runner))

    worker.work_once()

    assert services.commands.get(asked.id).status == "canceled"
    assert rows(services, "SELECT COUNT(*) FROM raw_fund_flow") == [(0,)]
