"""The command `backfill`, what is written down of Dagster's backfill, and rows that never came so far."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.errors import NotFound
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.backfills import Backfill, Backfills
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.sql import Sql
from schedules import run_tags
from schedules.commands.backfill import BackfillWatch
from schedules.commands.worker import Worker
from schedules.runs.outcome import BackfillFate
from schedules.services import Services
from tests.schedules.conftest import DATES
from tests.schedules.runs import EndedRuns

TABLE = "fusion_margin"
NOW = datetime(2026, 8, 21, 15, 0)


class Dagster(EndedRuns):
    """Backfills as Dagster has them; a test says what becomes of them."""

    def __init__(self) -> None:
        super().__init__()
        self.days: list[tuple[str, ...]] = []
        self.tags: Mapping[str, str] = {}
        self.state = BackfillFate("open")
        self.canceled: list[str] = []

    def launch_backfill(self, dataset: str, days: Sequence[str], title: str, tags: Mapping[str, str]) -> str:
        self.days.append(tuple(days))
        self.tags = tags
        return f"{dataset}-{len(self.days)}"

    def backfill_fate(self, backfill_id: str, days: Sequence[str]) -> BackfillFate:
        return self.state

    def cancel_backfill(self, backfill_id: str) -> None:
        self.canceled.append(backfill_id)
        self.state = BackfillFate("canceling")


def asked(services: Services, *days: str) -> Backfill:
    ledger = Backfills(services.engine)
    return ledger.create("margin", days[0], days[-1], days, by="admin", now=services.clock.now())


def work(services: Services, row: Backfill, dagster: Dagster) -> Command:
    command = services.commands.enqueue("backfill", {"backfill_id": row.id}, requested_by="admin")
    Worker(services, dagster).work_once()
    return services.commands.get(command.id)


def looked(services: Services, row: Backfill, dagster: Dagster) -> Backfill:
    BackfillWatch(services, dagster).look()
    return Backfills(services.engine).get(row.id)


def commit(services: Services, run_id: str, *days: str) -> None:
    """Batches of two rows, as a run writes them."""
    columns = ("batch_id", "table_name", "partition_key", "run_id", "status", "rows_written")
    with transaction(services.engine) as connection:
        for day in days:
            values = (f"{run_id}{day}", TABLE, day, run_id, "success", 2)
            connection.exec_driver_sql(Sql(services.engine).insert("sys_batch", columns), values)


def test_a_backfill_is_asked_of_dagster_and_its_command_ends(services: Services) -> None:
    dagster, row = Dagster(), asked(services, DATES[0], DATES[1], DATES[3])

    command = work(services, row, dagster)

    assert (command.status, command.result["dagster_backfill_id"]) == ("success", "margin-1")
    assert dagster.days == [(DATES[0], DATES[1], DATES[3])]
    assert dagster.tags[run_tags.TRIGGER] == "backfill"
    found = Backfills(services.engine).get(row.id)
    assert (found.status, found.dagster_id, found.done) == ("running", "margin-1", 0)
    assert found.started_at is not None


def test_a_command_that_comes_back_after_its_launch_asks_no_second_time(services: Services) -> None:
    dagster, row = Dagster(), asked(services, DATES[0])
    work(services, row, dagster)

    assert work(services, row, dagster).status == "success"
    assert len(dagster.days) == 1


def test_one_that_an_earlier_version_had_at_work_is_asked_for_when_its_command_comes_back(
    services: Services,
) -> None:
    dagster, row = Dagster(), asked(services, *DATES[:3])
    commit(services, "r0", DATES[0])
    with transaction(services.engine) as connection:
        connection.exec_driver_sql("UPDATE sys_backfill SET status='running', run_ids_json='[\"r0\"]'")

    assert work(services, row, dagster).status == "success"

    found = Backfills(services.engine).get(row.id)
    assert (found.dagster_id, found.status, dagster.days) == ("margin-1", "running", [DATES[1:3]])


def test_progress_and_end_are_those_of_its_runs(services: Services) -> None:
    dagster, row = Dagster(), asked(services, DATES[0], DATES[1], DATES[3])
    work(services, row, dagster)
    commit(services, "r1", DATES[0], DATES[1])
    dagster.state = BackfillFate("open", ("r1", "r2"), {DATES[3]: "upstream is silent"})

    half = looked(services, row, dagster)
    commit(services, "r3", DATES[3])
    dagster.state = BackfillFate("ended", ("r1", "r2", "r3"), {DATES[3]: "upstream is silent"})
    whole = looked(services, row, dagster)

    assert (half.status, half.done, half.rows_written) == ("running", 2, 4)
    assert half.failures == {DATES[3]: "upstream is silent"}
    # The retry of the run brought it.
    assert (whole.status, whole.done, whole.rows_written, whole.failures) == ("success", 3, 6, {})
    assert whole.run_ids == ("r1", "r2", "r3")
    assert whole.finished_at is not None
    assert Backfills(services.engine).open("margin") == []


@pytest.mark.parametrize(("loaded", "status"), [(DATES[:1], "partial"), ((), "failed")])
def test_dates_that_are_missing_at_the_end_have_a_reason(
    services: Services, loaded: tuple[str, ...], status: str
) -> None:
    dagster, row = Dagster(), asked(services, *DATES[:3])
    work(services, row, dagster)
    commit(services, "r1", *loaded)
    dagster.state = BackfillFate("ended", ("r1",), {DATES[1]: "upstream is silent"})

    found = looked(services, row, dagster)

    assert (found.status, found.done) == (status, len(loaded))
    assert found.failures.keys() == set(DATES[:3]) - set(loaded)
    assert found.failures[DATES[1]] == "upstream is silent"
    assert found.failures[DATES[2]] == "no run of the backfill margin-1 loaded it"


def test_a_cancel_is_asked_of_dagster_once_and_keeps_what_is_loaded(services: Services) -> None:
    dagster, ledger, row = Dagster(), Backfills(services.engine), asked(services, DATES[0], DATES[3])
    work(services, row, dagster)
    commit(services, "r1", DATES[0])
    ledger.request_cancel(row.id, now=NOW)

    assert [looked(services, row, dagster).status for _ in range(2)] == ["running"] * 2
    dagster.state = BackfillFate("canceled", ("r1",))

    found = looked(services, row, dagster)
    assert dagster.canceled == ["margin-1"]
    assert (found.status, found.done, found.failures) == ("canceled", 1, {})


def test_a_backfill_that_is_resumed_takes_only_what_is_left(services: Services) -> None:
    dagster, ledger, row = Dagster(), Backfills(services.engine), asked(services, *DATES[:3])
    work(services, row, dagster)
    commit(services, "r1", *DATES[:2])
    dagster.state = BackfillFate("ended", ("r1",))
    looked(services, row, dagster)
    ledger.reopen(row.id, now=NOW)

    work(services, row, dagster)
    commit(services, "r2", DATES[2])
    dagster.state = BackfillFate("ended", ("r2",))

    found = looked(services, row, dagster)
    assert dagster.days[-1] == (DATES[2],)
    assert (found.status, found.done, found.run_ids) == ("success", 3, ("r1", "r2"))


def test_one_that_is_resumed_with_nothing_left_is_done(services: Services) -> None:
    row, dagster = asked(services, DATES[-1]), Dagster()
    work(services, row, dagster)
    commit(services, "r1", DATES[-1])
    dagster.state = BackfillFate("canceled", ("r1",))
    looked(services, row, dagster)
    Backfills(services.engine).reopen(row.id, now=NOW)

    command = work(services, row, dagster)

    assert (command.status, len(dagster.days)) == ("success", 1)
    assert Backfills(services.engine).get(row.id).status == "success"


def test_an_unknown_backfill_fails_by_name(services: Services) -> None:
    command = services.commands.enqueue("backfill", {"backfill_id": "x"}, requested_by="admin")
    Worker(services, Dagster()).work_once()
    found = services.commands.get(command.id)
    assert (found.status, "no backfill 'x'" in str(found.error)) == ("failed", True)


def test_a_backfill_that_dagster_refuses_has_failed(services: Services) -> None:
    class Away(Dagster):
        def launch_backfill(self, *_: Any) -> str:
            raise NotFound("no such asset")

    row = asked(services, DATES[0])
    assert work(services, row, Away()).status == "failed"
    assert Backfills(services.engine).get(row.id).status == "failed"


def enqueued(engine: Engine, **more: Any) -> tuple[Backfills, Backfill, Command]:
    ledger = Backfills(engine)
    one = ledger.create("margin", DATES[0], DATES[1], DATES[:2], by="admin", now=NOW)
    args = {"backfill_id": one.id, "table": TABLE}
    return ledger, one, CommandQueue(engine).enqueue("backfill", args, requested_by="admin", **more)


def test_a_queued_backfill_ends_with_its_command_whoever_cancels_it(engine: Engine) -> None:
    ledger, one, command = enqueued(engine)

    CommandQueue(engine).cancel(command.id)

    found = ledger.get(one.id)
    assert (found.status, ledger.open("margin")) == ("canceled", [])
    assert found.finished_at is not None


def test_a_backfill_ends_with_the_command_that_its_worker_took_along(engine: Engine) -> None:
    queue = CommandQueue(engine)
    for canceled, end in ((False, "failed"), (True, "canceled")):
        ledger, one, command = enqueued(engine, max_attempts=1)
        assert queue.claim("dead") is not None
        if canceled:
            assert queue.cancel(command.id).status == "running"
            assert ledger.get(one.id).status == "queued"
        (reaped,) = queue.reap(owner="dead")
        assert (reaped.status, ledger.get(one.id).status) == (end, end)


def test_a_backfill_whose_command_comes_back_stays_open(engine: Engine) -> None:
    ledger, one, _ = enqueued(engine)
    queue = CommandQueue(engine)
    assert queue.claim("dead") is not None

    (reaped,) = queue.reap(owner="dead")

    assert (reaped.status, ledger.get(one.id).status) == ("queued", "queued")


def test_a_backfill_that_nobody_asked_a_command_for_is_given_up(engine: Engine) -> None:
    ledger, asked_for, _ = enqueued(engine)
    forgotten = ledger.create("block_trade", DATES[0], DATES[0], DATES[:1], by="gaps", now=NOW)

    assert ledger.end_forgotten(now=NOW + timedelta(minutes=9)) == []
    assert ledger.end_forgotten(now=NOW + timedelta(minutes=11)) == [forgotten.id]

    assert (ledger.get(forgotten.id).status, ledger.get(asked_for.id).status) == ("failed", "queued")
