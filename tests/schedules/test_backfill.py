"""The command `backfill`: stretches of neighbours, what failed, and going on with what is left."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.errors import NotFound
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.backfills import Backfill, Backfills
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.sql import Sql
from schedules.commands import backfill as module
from schedules.commands.backfill import stretches
from schedules.commands.worker import Worker
from schedules.runs.outcome import RANGE_END, RANGE_START, RunFate
from schedules.services import Services
from tests.schedules.conftest import DATES
from tests.schedules.runs import EndedRuns

TABLE = "fusion_margin"
NOW = datetime(2026, 8, 21, 15, 0)


class Loader(EndedRuns):
    """Runs that commit a batch of two rows for each of their dates, but for those in `broken`."""

    def __init__(self, services: Services, *broken: str) -> None:
        super().__init__()
        self.services = services
        self.broken = set(broken)
        self.calls: list[tuple[str, ...]] = []
        self.cancel = 0

    def run(self, job: str, run_id: str, partition_key: str | None, tags: Mapping[str, str]) -> RunFate:
        if job != "backfill_margin":
            raise NotFound(job)
        ends = (partition_key, partition_key) if partition_key else (tags[RANGE_START], tags[RANGE_END])
        days = tuple(self.services.calendar.between(*ends))
        self.calls.append(days)
        sql = Sql(self.services.engine)
        columns = ("batch_id", "table_name", "partition_key", "run_id", "status", "rows_written")
        rows = [
            (f"{run_id[:20]}{day}", TABLE, day, run_id, "success", 2)
            for day in days
            if day not in self.broken
        ]
        with transaction(self.services.engine) as connection:
            for row in rows:
                connection.exec_driver_sql(sql.insert("sys_batch", columns), row)
        if self.cancel:
            self.services.commands.cancel(self.cancel)
        ok = len(rows) == len(days)
        return RunFate("success") if ok else RunFate("failed", "upstream is silent")


def asked(services: Services, *days: str) -> Backfill:
    ledger = Backfills(services.engine)
    return ledger.create("margin", days[0], days[-1], days, by="admin", now=services.clock.now())


def work(services: Services, one: Backfill, loader: Loader) -> tuple[Command, Backfill]:
    args = {"backfill_id": one.id, "table": TABLE}
    command = services.commands.enqueue("backfill", args, requested_by="admin")
    if loader.cancel:
        loader.cancel = command.id
    Worker(services, loader).work_once()
    return services.commands.get(command.id), Backfills(services.engine).get(one.id)


def test_neighbours_are_loaded_together_and_others_apart(services: Services, monkeypatch: Any) -> None:
    assert list(stretches([DATES[0], DATES[1], DATES[3]], services.calendar)) == [list(DATES[:2]), [DATES[3]]]
    assert list(stretches([], services.calendar)) == []
    monkeypatch.setattr(module, "MOST_DATES", 2)
    assert [len(part) for part in stretches(DATES, services.calendar)] == [2, 2, 1]


def test_a_backfill_loads_its_dates_and_counts_what_they_wrote(services: Services) -> None:
    loader = Loader(services)

    command, done = work(services, asked(services, DATES[0], DATES[1], DATES[3]), loader)

    assert loader.calls == [DATES[:2], (DATES[3],)]
    assert (command.status, command.result["status"]) == ("success", "success")
    assert (done.status, done.done, done.failed, done.rows_written) == ("success", 3, 0, 6)
    assert len(done.run_ids) == 2
    assert done.finished_at is not None
    assert {row.trigger for row in services.scheduled_runs.runs()[0]} <= {"backfill", "manual"}


def test_what_failed_hurts_no_later_date_and_a_second_try_takes_only_that(services: Services) -> None:
    loader = Loader(services, DATES[1])
    one = asked(services, DATES[0], DATES[1], DATES[3])

    _, first = work(services, one, loader)
    loader.broken.clear()
    Backfills(services.engine).reopen(one.id, now=services.clock.now())
    _, second = work(services, one, loader)

    assert (first.status, first.done, first.failures) == ("partial", 2, {DATES[1]: "upstream is silent"})
    assert loader.calls[-1] == (DATES[1],)
    assert (second.status, second.done, second.failures, second.rows_written) == ("success", 3, {}, 6)


def test_nothing_at_all_is_a_failure(services: Services) -> None:
    _, done = work(services, asked(services, DATES[0]), Loader(services, DATES[0]))

    assert (done.status, done.done, done.failed) == ("failed", 0, 1)


def test_a_cancel_ends_between_two_stretches_and_keeps_what_is_loaded(services: Services) -> None:
    loader = Loader(services)
    loader.cancel = 1

    command, done = work(services, asked(services, DATES[0], DATES[3]), loader)

    assert (command.status, done.status, done.done) == ("canceled", "canceled", 1)
    assert loader.calls == [(DATES[0],)]


def test_unknown_backfills_and_arguments_fail_by_name(services: Services) -> None:
    for args, words in (({"table": TABLE, "backfill_id": "x"}, "no backfill 'x'"), ({}, "table: ")):
        command = services.commands.enqueue("backfill", args, requested_by="admin")
        Worker(services, Loader(services)).work_once()
        found = services.commands.get(command.id)
        assert (found.status, words in str(found.error)) == ("failed", True)


def enqueued(engine: Engine, **more: Any) -> tuple[Backfills, Backfill, Command]:
    ledger = Backfills(engine)
    one = ledger.create("margin", DATES[0], DATES[1], DATES[:2], by="admin", now=NOW)
    args = {"backfill_id": one.id, "table": TABLE}
    return ledger, one, CommandQueue(engine).enqueue("backfill", args, requested_by="admin", **more)


def test_a_queued_backfill_ends_with_its_command_whoever_cancels_it(engine: Engine) -> None:
    ledger, one, command = enqueued(engine)

    CommandQueue(engine).cancel(command.id)

    found = ledger.get(one.id)
    assert (found.status, ledger.open_of("margin")) == ("canceled", [])
    assert found.finished_at is not None


def test_a_backfill_ends_with_the_command_that_its_worker_took_along(engine: Engine) -> None:
    queue = CommandQueue(engine)
    for canceled, end in ((False, "failed"), (True, "canceled")):
        ledger, one, command = enqueued(engine, max_attempts=1)
        assert queue.claim("dead") is not None
        ledger.begin(one.id, now=NOW)
        if canceled:
            assert queue.cancel(command.id).status == "running"
            assert ledger.get(one.id).status == "running"
        (reaped,) = queue.reap(owner="dead")
        assert (reaped.status, ledger.get(one.id).status) == (end, end)


def test_a_backfill_whose_command_comes_back_stays_open(engine: Engine) -> None:
    ledger, one, _ = enqueued(engine)
    queue = CommandQueue(engine)
    assert queue.claim("dead") is not None
    ledger.begin(one.id, now=NOW)

    (reaped,) = queue.reap(owner="dead")

    assert (reaped.status, ledger.get(one.id).status) == ("queued", "running")


def test_what_the_handler_told_of_its_end_stays(engine: Engine) -> None:
    ledger, one, command = enqueued(engine)
    queue = CommandQueue(engine)
    mine = queue.claim("worker")
    assert mine is not None
    ledger.begin(one.id, now=NOW)
    reported = {"done": 1, "rows_written": 2, "run_ids": ["r"], "failures": {DATES[1]: "silent"}}
    ledger.show(one.id, "partial", now=NOW, by=mine, **reported)  # type: ignore[arg-type]
    queue.finish(mine, "failed", error="the rest")

    assert ledger.get(one.id).status == "partial"
    assert queue.get(command.id).status == "failed"


def test_a_backfill_that_nobody_asked_a_command_for_is_given_up(engine: Engine) -> None:
    ledger, asked_for, _ = enqueued(engine)
    forgotten = ledger.create("block_trade", DATES[0], DATES[0], DATES[:1], by="gaps", now=NOW)

    assert ledger.end_forgotten(now=NOW + timedelta(minutes=9)) == []
    assert ledger.end_forgotten(now=NOW + timedelta(minutes=11)) == [forgotten.id]

    assert (ledger.get(forgotten.id).status, ledger.get(asked_for.id).status) == ("failed", "queued")


class Flaky(Loader):
    """Of some dates the first run fails, for the reason `why`; its batch names what its sources said."""

    def __init__(self, services: Services, day: str, why: str, source_error: str | None = None) -> None:
        super().__init__(services, day)
        self.why, self.source_error = why, source_error

    def run(self, job: str, run_id: str, partition_key: str | None, tags: Mapping[str, str]) -> RunFate:
        failing = bool(self.broken)
        fate = super().run(job, run_id, partition_key, tags)
        if fate.status == "success" or not failing:
            return fate
        self.broken.clear()
        sources = [] if self.source_error is None else [{"src": "sse", "error": self.source_error}]
        row = {
            "batch_id": f"bad{run_id[:20]}",
            "table_name": "raw_margin",
            "run_id": run_id,
            "status": "failed",
            "sources_json": json.dumps(sources),
        }
        with transaction(self.services.engine) as connection:
            statement = Sql(self.services.engine).insert("sys_batch", list(row))
            connection.exec_driver_sql(statement, tuple(row.values()))
        return RunFate("failed", self.why)


@pytest.mark.parametrize(
    ("why", "source_error", "again"),
    [
        ("raw__raw_margin: AllSourcesFailed: sse: reset by peer", "Transient", True),
        ("raw__raw_margin: AllSourcesFailed: sse cools down for another 29 s", "Unavailable", True),
        ("dwd__fusion_margin: core.errors.ConflictError: daily is held by run x", None, True),
        ("its process died", None, True),
        ("raw__raw_margin: AllSourcesFailed: sse: HTTP 404", "Permanent", False),
        ("dwd__fusion_margin: core.errors.QualityError: no row is left", None, False),
    ],
)
def test_what_failed_for_a_passing_reason_is_tried_again_at_the_end(
    services: Services, why: str, source_error: str | None, again: bool
) -> None:
    loader = Flaky(services, DATES[0], why, source_error)

    _, done = work(services, asked(services, DATES[0], DATES[3]), loader)

    assert loader.calls == [(DATES[0],), (DATES[3],), *([(DATES[0],)] if again else [])]
    assert (done.status, done.failures) == (("success", {}) if again else ("partial", {DATES[0]: why}))
