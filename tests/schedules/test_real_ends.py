"""A verdict on a run that others gave up is a presumption: it waits for the claim to be old and its owner to
be gone, and the run's own end wins over it. The interleavings are forced, on both engines."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from resources.calendar import TradeCalendar
from resources.clock import ManualClock
from resources.settings import load_settings
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.ledger.gaps import Gap, Gaps
from resources.warehouse.ledger.slot_rows import LOST, SlotRow
from resources.warehouse.ledger.slots import SlotLedger
from resources.warehouse.sql import Sql
from schedules.house import House
from schedules.sweep import Cursor, RunFate, Sweeper
from tests.schedules.conftest import DATES

NOW = datetime(2026, 8, 21, 15, 0)
DAY = "2026-08-21"


@dataclass
class Fates:
    """What the orchestrator says of runs."""

    known: dict[str, RunFate]

    def of_slot(self, task_key: str, slot: str, attempt: int) -> str | None:
        return None

    def fate(self, run_id: str) -> RunFate | None:
        return self.known.get(run_id)


@pytest.fixture
def house(engine: Engine, tmp_path: Path) -> House:
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    return House(settings, ManualClock(NOW, frozen=False), TradeCalendar(DATES), engine)


def sweep(house: House, fates: Fates, *, old: bool = False) -> None:
    """One sweep; `old`: every claim has passed its limit."""
    if old:
        house.slots = SlotLedger(house.engine, claim_limit_s=-1.0)
    Sweeper(house, [], fates, served={}).sweep(Cursor(NOW, NOW, NOW), NOW + timedelta(minutes=1))


def started(house: House) -> Command:
    """A command that has written its slot, and whose run Dagster does not know yet."""
    house.commands.enqueue("run_job", {}, requested_by="t")
    command = house.commands.claim("w1")
    assert command is not None
    house.commands.progress(command, {}, run_id="r1")
    house.slots.by_hand("download", at=NOW, trade_date=DAY, command_id=command.id, run_id="r1")
    return command


def slot(house: House) -> SlotRow:
    return house.slots.latest()["download"]


def logged(house: House) -> list[tuple[str, str | None]]:
    with house.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT status, message FROM sys_sync_log ORDER BY id").all()
    return [(str(status), message) for status, message in rows]


def test_a_sweep_before_dagster_knows_the_run_leaves_it_alone(house: House) -> None:
    started(house)

    sweep(house, Fates({}))
    assert slot(house).status == "running"
    sweep(house, Fates({}), old=True)  # its owner is at work
    assert slot(house).status == "running"

    house.slots.finish("r1", "success", now=NOW)
    assert (slot(house).status, slot(house).reason) == ("success", None)
    assert logged(house) == [("success", None)]


def test_a_run_that_never_came_is_lost_when_its_claim_is_old_and_its_owner_gone(house: House) -> None:
    command = started(house)
    house.commands.finish(command, "failed", error="the worker died")

    sweep(house, Fates({}))
    assert slot(house).status == "running"
    sweep(house, Fates({}), old=True)
    assert (slot(house).status, slot(house).reason) == ("failed", LOST)


@pytest.mark.parametrize("heard", ["by the run itself", "by the sweep"])
def test_the_end_of_a_run_that_was_taken_for_lost_wins(house: House, heard: str) -> None:
    command = started(house)
    house.commands.finish(command, "failed")
    sweep(house, Fates({}), old=True)
    assert logged(house) == [("failed", LOST)]

    if heard == "by the run itself":
        house.slots.finish("r1", "success", now=NOW)
    else:
        sweep(house, Fates({"r1": RunFate("open")}))
        assert slot(house).status == "failed"
        sweep(house, Fates({"r1": RunFate("success")}))

    assert (slot(house).status, slot(house).reason) == ("success", None)
    assert logged(house) == [("success", None)]
    # An end that the run told itself is final.
    assert house.slots.finish("r1", "failed", now=NOW, reason="the worker died") is None
    assert slot(house).status == "success"


def test_a_worker_that_lost_its_command_says_nothing_of_its_backfill(engine: Engine) -> None:
    ledger, queue = Backfills(engine), CommandQueue(engine)
    made = ledger.create("kline_daily", DAY, DAY, [DAY], by="t", now=NOW)
    queue.enqueue("backfill", {"backfill_id": made.id}, requested_by="t")
    first = queue.claim("w1")
    assert first is not None
    queue.reap(owner="w1")
    second = queue.claim("w2")
    assert second is not None
    ledger.begin(made.id, now=NOW)

    def show(status: str, by: Command) -> str:
        ledger.show(made.id, status, now=NOW, done=0, rows_written=0, run_ids=["r"], failures={}, by=by)
        return ledger.get(made.id).status

    assert show("failed", first) == "running"
    assert show("success", second) == "success"


def test_a_backfill_that_has_begun_is_not_settled_from_outside(engine: Engine) -> None:
    ledger = Backfills(engine)
    made = ledger.create("kline_daily", DAY, DAY, [DAY], by="t", now=NOW)
    ledger.begin(made.id, now=NOW)

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
