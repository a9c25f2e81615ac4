"""A verdict on a run that others gave up is a presumption: it waits for the claim to be old and its owner to
be gone, and the run's own end wins over it. The interleavings are forced, on both engines."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.clock import ManualClock
from core.errors import ConflictError
from resources.settings import load_settings
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import Command
from resources.warehouse.ledger.gaps import Gap, Gaps
from resources.warehouse.ledger.scheduled_run_reads import LOST, ScheduledRunRow
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger
from resources.warehouse.sql import Sql
from schedules.commands.reaper import reap_node
from schedules.services import Services
from schedules.tasks.reconciliation import Cursor, Reconciler, RunFate
from tests.schedules.conftest import DATES

NOW = datetime(2026, 8, 21, 15, 0)
DAY = "2026-08-21"


@dataclass
class Fates:
    """What the orchestrator says of runs."""

    known: dict[str, RunFate]

    def of_scheduled_run(self, task_key: str, slot: str, attempt: int) -> str | None:
        return None

    def fate(self, run_id: str) -> RunFate | None:
        return self.known.get(run_id)


@pytest.fixture
def services(engine: Engine, tmp_path: Path) -> Services:
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    return Services(settings, ManualClock(NOW, frozen=False), TradeCalendar(DATES), engine)


def reconcile(services: Services, fates: Fates, *, old: bool = False) -> None:
    """One sweep; `old`: every claim has passed its limit."""
    if old:
        services.scheduled_runs = ScheduledRunLedger(services.engine, claim_limit_s=-1.0)
    Reconciler(services, [], fates, served={}).reconcile(Cursor(NOW, NOW, NOW), NOW + timedelta(minutes=1))


def started(services: Services) -> Command:
    """A command that has written its scheduled run, and whose run Dagster does not know yet."""
    services.commands.enqueue("run_job", {}, requested_by="t")
    command = services.commands.claim("w1")
    assert command is not None
    services.commands.progress(command, {}, run_id="r1")
    services.scheduled_runs.by_hand("download", at=NOW, trade_date=DAY, command_id=command.id, run_id="r1")
    return command


def slot(services: Services) -> ScheduledRunRow:
    return services.scheduled_runs.latest()["download"]


def logged(services: Services) -> list[tuple[str, str | None]]:
    with services.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT status, message FROM sys_sync_log ORDER BY id").all()
    return [(str(status), message) for status, message in rows]


def test_a_sweep_before_dagster_knows_the_run_leaves_it_alone(services: Services) -> None:
    started(services)

    reconcile(services, Fates({}))
    assert slot(services).status == "running"
    reconcile(services, Fates({}), old=True)  # its owner is at work
    assert slot(services).status == "running"

    services.scheduled_runs.finish("r1", "success", now=NOW)
    assert (slot(services).status, slot(services).reason) == ("success", None)
    assert logged(services) == [("success", None)]


def test_a_run_that_never_came_is_lost_when_its_claim_is_old_and_its_owner_gone(services: Services) -> None:
    command = started(services)
    services.commands.finish(command, "failed", error="the worker died")

    reconcile(services, Fates({}))
    assert slot(services).status == "running"
    reconcile(services, Fates({}), old=True)
    assert (slot(services).status, slot(services).reason) == ("failed", LOST)


@pytest.mark.parametrize("heard", ["by the run itself", "by the sweep"])
def test_the_end_of_a_run_that_was_taken_for_lost_wins(services: Services, heard: str) -> None:
    command = started(services)
    services.commands.finish(command, "failed")
    reconcile(services, Fates({}), old=True)
    assert logged(services) == [("failed", LOST)]

    if heard == "by the run itself":
        services.scheduled_runs.finish("r1", "success", now=NOW)
    else:
        reconcile(services, Fates({"r1": RunFate("open")}))
        assert slot(services).status == "failed"
        reconcile(services, Fates({"r1": RunFate("success")}))

    assert (slot(services).status, slot(services).reason) == ("success", None)
    assert logged(services) == [("success", None)]
    # An end that the run told itself is final.
    assert services.scheduled_runs.finish("r1", "failed", now=NOW, reason="the worker died") is None
    assert slot(services).status == "success"


def taken_over(services: Services, command: str, **args: str) -> tuple[Command, Command]:
    """The claims of a worker that was paused, and of the one that goes on with its command."""
    services.commands.enqueue(command, args, requested_by="t")
    first = services.commands.claim("w1")
    services.commands.reap(owner="w1")
    second = services.commands.claim("w2")
    assert first is not None
    assert second is not None
    return first, second


def test_a_backfill_that_has_ended_stays_ended_for_a_watch_that_looked_before(services: Services) -> None:
    ledger = Backfills(services.engine)
    made = ledger.create("kline_daily", DAY, DAY, [DAY], by="t", now=NOW)
    ledger.launched(made.id, "abc", now=NOW)
    early = ledger.get(made.id)
    ledger.show(replace(early, status="success", done=1), at=NOW)

    ledger.show(replace(early, done=0), at=NOW)
    ledger.launched(made.id, "late", now=NOW)

    found = ledger.get(made.id)
    assert (found.status, found.done, found.dagster_id) == ("success", 1, "abc")
    assert found.finished_at is not None


def test_a_worker_that_wakes_up_late_does_not_take_the_row_of_the_other_ones_run(services: Services) -> None:
    first, second = taken_over(services, "run_job", job="download")

    def by_hand(run_id: str, claim: Command) -> None:
        services.scheduled_runs.by_hand(
            "download", at=NOW, trade_date=DAY, command_id=claim.id, run_id=run_id, claim=claim
        )

    by_hand("r2", second)
    with pytest.raises(ConflictError, match="no longer ours"):
        by_hand("r1", first)

    services.scheduled_runs.finish("r2", "success", now=NOW)
    assert (slot(services).run_id, slot(services).status) == ("r2", "success")


def test_a_lock_that_the_next_worker_took_for_a_command_is_not_given_back(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reaper queues the command of a dead worker again, and somebody is there at once."""
    asked = services.commands.enqueue("fusion_sync", {}, requested_by="t")
    assert services.commands.claim("w1") is not None
    services.locks.take(("kline",), f"command:{asked.id}")
    queue_again = services.commands.reap

    def and_go_on(**which: Any) -> list[Command]:
        queued = queue_again(**which)
        assert services.commands.claim("w2") is not None
        services.locks.take(("kline",), f"command:{asked.id}")
        return queued

    monkeypatch.setattr(services.commands, "reap", and_go_on)
    reap_node(services, "w1")

    with pytest.raises(ConflictError):
        services.locks.take(("kline",), "run:other")


def test_a_gap_that_was_closed_before_its_backfill_was_asked_for_is_not_queued(engine: Engine) -> None:
    with transaction(engine) as connection:
        for day, status in ((DAY, "repaired"), ("2026-08-20", "open")):
            connection.exec_driver_sql(
                Sql(engine).insert("sys_gap", ["dataset", "partition_key", "status", "attempts", "reason"]),
                ("kline_daily", day, status, 0, "absent"),
            )

    Gaps(engine).queue("kline_daily", [DAY, "2026-08-20"], "b1", now=NOW)

    found = Gaps(engine).of("kline_daily")
    assert {gap.partition: gap.status for gap in found.values()} == {DAY: "repaired", "2026-08-20": "queued"}


def test_a_backfill_that_has_begun_is_not_settled_from_outside(engine: Engine) -> None:
    ledger = Backfills(engine)
    made = ledger.create("kline_daily", DAY, DAY, [DAY], by="t", now=NOW)
    ledger.launched(made.id, "abc", now=NOW)

    ledger.settle(made.id, "canceled", now=NOW)

    assert ledger.get(made.id).status == "running"


def test_a_gap_that_was_closed_meanwhile_is_not_opened_again(engine: Engine) -> None:
    gaps = Gaps(engine)
    seen = Gap("kline_daily", DAY, 1, 0, (), "absent", "queued", 1, None, None, None, "b1")
    with transaction(engine) as connection:
        connection.exec_driver_sql(
            Sql(engine).insert(
                "sys_gap", ["dataset", "partition_key", "status", "attempts", "backfill_id", "reason"]
            ),
            ("kline_daily", DAY, "repaired", 1, "b1", "absent"),
        )

    gaps.settle(seen, "its backfill failed", None, now=NOW)

    assert gaps.of()["kline_daily", DAY].status == "repaired"
