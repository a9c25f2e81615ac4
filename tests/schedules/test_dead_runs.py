"""What a killed run leaves is set right, wherever it ran: the run, its row, its locks, its open batch."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.clock import ManualClock
from resources.settings import load_settings
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.heartbeats import this_node
from resources.warehouse.sql import Sql
from schedules.commands.reaper import reap, try_reap
from schedules.services import Services
from tests.schedules.conftest import DATES

NOW = datetime(2026, 8, 21, 15, 0)
GONE = 2**22 + 1
"""No process has this number."""


@dg.op
def nothing() -> None:
    """An op that does nothing."""


@dg.job
def work() -> None:
    nothing()


@pytest.fixture
def services_of_each_engine(engine: Engine, tmp_path: Path) -> Services:
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    return Services(settings, ManualClock(NOW, frozen=False), TradeCalendar(DATES), engine)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as made:
        yield made


def batch(services: Services, batch_id: str, status: str, run_id: str | None, **facts: object) -> None:
    row = {"batch_id": batch_id, "table_name": "t", "status": status, "run_id": run_id, **facts}
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(Sql(services.engine).insert("sys_batch", list(row)), tuple(row.values()))


def stored(services: Services) -> dict[str, tuple[object, ...]]:
    with services.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT batch_id, status, error, rows_in, rows_written, finished_at FROM sys_batch"
        ).all()
    return {str(row[0]): tuple(row[1:]) for row in rows}


def test_the_open_batch_of_a_dead_run_fails_with_what_its_partitions_committed(
    services_of_each_engine: Services, instance: dg.DagsterInstance
) -> None:
    services = services_of_each_engine
    killed = instance.create_run_for_job(work, status=dg.DagsterRunStatus.FAILURE).run_id
    batch(services, "parent", "running", killed, rows_in=None)
    for day, written in (("2026-08-19", 7), ("2026-08-20", 4)):
        facts = {"parent_batch_id": "parent", "rows_in": 10, "rows_written": written}
        batch(services, day, "success", killed, **facts)

    notes = reap(services, this_node("worker"), instance)

    assert notes == [f"batch parent of run {killed[:8]} failed: its run ended: FAILURE"]
    status, error, rows_in, rows_written, finished_at = stored(services)["parent"]
    assert (status, error) == ("failed", "its run ended: FAILURE")
    assert (rows_in, rows_written) == (20, 11)
    assert str(finished_at).startswith("2026-08-21 15:00:00")
    assert stored(services)["2026-08-19"][:2] == ("success", None)
    assert reap(services, this_node("worker"), instance) == []


def test_a_batch_whose_run_does_not_exist_fails_and_one_at_work_is_left_alone(
    services_of_each_engine: Services, instance: dg.DagsterInstance
) -> None:
    services = services_of_each_engine
    at_work = instance.create_run_for_job(work, status=dg.DagsterRunStatus.STARTED).run_id
    batch(services, "lost", "running", "no-such-run")
    batch(services, "alive", "running", at_work)
    batch(services, "by hand", "running", None)

    reap(services, this_node("worker"), instance)

    found = stored(services)
    assert found["lost"][:2] == ("failed", "its run does not exist any more")
    assert found["alive"][0] == found["by hand"][0] == "running"
    # Without Dagster nobody knows what became of a run.
    assert reap(services, this_node("worker")) == []


def test_a_storage_of_dagster_that_is_away_does_not_end_the_reaper(
    services_of_each_engine: Services, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    services = services_of_each_engine
    batch(services, "parent", "running", "r1")

    class Away:
        def get_run_by_id(self, _run_id: str) -> None:
            raise sa.exc.OperationalError("SELECT", {}, Exception("connection refused by password=secret1"))

    try_reap(services, this_node("worker"), Away())

    assert "reaper: OperationalError" in caplog.text
    assert stored(services)["parent"][0] == "running"


@pytest.mark.parametrize("fate", [None, dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE])
def test_the_slot_of_a_worker_that_was_killed_around_its_run_is_settled(
    services_of_each_engine: Services, instance: dg.DagsterInstance, fate: dg.DagsterRunStatus | None
) -> None:
    """Killed between the run's end and the row; or the run is deleted by now."""
    services, dead = services_of_each_engine, replace(this_node("worker"), node_id="dead", pid=GONE)
    services.heartbeats.beat(dead)
    asked = services.commands.enqueue("run_job", {"job": "history"}, requested_by="t", max_attempts=1)
    claimed = services.commands.claim(dead.node_id)
    assert claimed is not None
    run_id = "never-made" if fate is None else instance.create_run_for_job(work, status=fate).run_id
    services.commands.progress(claimed, {}, run_id=run_id)
    services.scheduled_runs.by_hand(
        "history", at=NOW, trade_date=DATES[0], command_id=asked.id, run_id=run_id
    )

    notes = reap(services, this_node("worker"), instance)

    slot = services.scheduled_runs.latest()["history"]
    assert slot.status == ("success" if fate is dg.DagsterRunStatus.SUCCESS else "failed")
    assert services.scheduled_runs.active() == []
    assert services.commands.get(asked.id).status == "failed"
    assert any("its worker left it open" in note for note in notes)


def test_a_slot_left_open_is_settled_by_the_sweep_and_one_at_work_is_left_alone(
    services_of_each_engine: Services, instance: dg.DagsterInstance
) -> None:
    """The worker is known to nobody any more; only the rows are there."""
    services, runs = services_of_each_engine, {}
    for name, left in (("history", True), ("eod_core", False)):
        asked = services.commands.enqueue("run_job", {"job": name}, requested_by="t")
        claimed = services.commands.claim("somebody")
        assert claimed is not None
        runs[name] = instance.create_run_for_job(work, status=dg.DagsterRunStatus.SUCCESS).run_id
        services.scheduled_runs.by_hand(
            name, at=NOW, trade_date=DATES[0], command_id=asked.id, run_id=runs[name]
        )
        if left:
            services.commands.finish(claimed, "success")

    reap(services, this_node("worker"), instance)

    assert {key: row.status for key, row in services.scheduled_runs.latest().items()} == {
        "history": "success",
        "eod_core": "running",  # its own worker books it
    }
