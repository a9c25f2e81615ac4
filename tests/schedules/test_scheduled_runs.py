"""A scheduled run runs at most once, whoever fires it, and leaves a row that says what became of it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Barrier

import pytest
from sqlalchemy.engine import Engine

from core.errors import ConflictError, StorageError
from platform_assets.task_table import TASKS
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger
from resources.warehouse.ledger.tasks import ScheduledRun
from resources.warehouse.ledger.tasks_state import TaskTable

DUE = datetime(2026, 8, 21, 15, 40)
SLOT = ScheduledRun("fusion_kline_sync", "2026-08-21", DUE)
NOW = datetime(2026, 8, 21, 15, 41)


def claim(ledger: ScheduledRunLedger, who: str, slot: ScheduledRun = SLOT) -> bool:
    return ledger.claim(slot, who, trade_date="2026-08-21")


def test_racing_claimers_have_one_winner(url: str) -> None:
    engines = [make_engine(url) for _ in range(4)]
    barrier = Barrier(4)
    slots = [ScheduledRun("t", f"2026-08-{day:02d}", DUE) for day in range(1, 21)]

    def race(number: int) -> list[bool]:
        ledger = ScheduledRunLedger(engines[number])
        won = []
        try:
            for slot in slots:
                barrier.wait()
                won.append(claim(ledger, f"claimer {number}", slot))
        except StorageError:
            barrier.abort()  # the others must not wait for a claimer that is gone
            raise
        return won

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(race, range(4)))
    for engine in engines:
        engine.dispose()

    assert [sum(column) for column in zip(*results, strict=True)] == [1] * len(slots)


def test_a_tick_takes_its_own_claim_back_and_another_waits(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    assert claim(ledger, "tick 15:40")

    assert not claim(ledger, "sensor")
    assert claim(ledger, "tick 15:40")


def test_a_claim_without_a_run_is_free_again_after_the_limit(engine: Engine) -> None:
    assert claim(ScheduledRunLedger(engine), "tick 15:40")

    impatient = ScheduledRunLedger(engine, claim_limit_s=-1.0)
    assert claim(impatient, "sensor")
    # The interrupted tick comes back late: the claim is the sensor's by now.
    assert not claim(ScheduledRunLedger(engine), "tick 15:40")


def test_nobody_takes_a_slot_that_has_a_run(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine, claim_limit_s=-1.0)
    claim(ledger, "tick")
    ledger.begin(SLOT.task, SLOT.name, "run-1", now=NOW)

    assert not claim(ledger, "tick")
    assert not claim(ledger, "sensor")
    ledger.finish("run-1", "success", now=NOW)
    assert not claim(ledger, "tick")


def test_of_two_runs_for_one_slot_only_the_first_works(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    claim(ledger, "tick")
    ledger.begin(SLOT.task, SLOT.name, "run-1", now=NOW)
    ledger.begin(SLOT.task, SLOT.name, "run-1", now=NOW)

    with pytest.raises(ConflictError, match="belongs to run run-1"):
        ledger.begin(SLOT.task, SLOT.name, "run-2", now=NOW)
    with pytest.raises(ConflictError, match="never claimed"):
        ledger.begin(SLOT.task, "2026-08-20", "run-2", now=NOW)


def test_finish_settles_the_slot_and_writes_the_sync_log(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    claim(ledger, "tick")
    ledger.begin(SLOT.task, SLOT.name, "run-1", now=NOW)

    row = ledger.finish("run-1", "failed", now=datetime(2026, 8, 21, 15, 43), reason="no answer")

    assert row is not None
    assert (row.status, row.reason, row.duration_s) == ("failed", "no answer", 120.0)
    assert ledger.finish("run-1", "success", now=NOW) is None
    with engine.connect() as connection:
        logged = connection.exec_driver_sql(
            "SELECT task_type, status, message, run_id, trigger_type FROM sys_sync_log"
        ).all()
    assert [tuple(line) for line in logged] == [
        ("sched:fusion_kline_sync", "failed", "no answer", "run-1", "schedule")
    ]


def test_only_tasks_of_the_table_are_logged_as_scheduled(engine: Engine) -> None:
    """A download is no scheduled task; a task that is started by hand still is one."""
    TaskTable(engine).publish(TASKS)
    ledger = ScheduledRunLedger(engine)
    for number, key in enumerate(("eod_core", "download")):
        ledger.by_hand(key, at=NOW, trade_date=None, command_id=number, run_id=f"run-{number}")
        ledger.finish(f"run-{number}", "success", now=NOW)

    with engine.connect() as connection:
        logged = connection.exec_driver_sql("SELECT task_type FROM sys_sync_log ORDER BY id").scalars()
        assert list(logged) == ["sched:eod_core", "download"]


def test_a_failed_slot_is_retried_once_per_attempt(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    claim(ledger, "tick")
    ledger.begin(SLOT.task, SLOT.name, "run-1", now=NOW)
    failed = ledger.finish("run-1", "failed", now=NOW, reason="no answer")
    assert failed is not None

    assert ledger.retry(failed, "sensor 2")
    assert not ledger.retry(failed, "sensor 2")
    ledger.begin(SLOT.task, SLOT.name, "run-2", now=NOW)

    row = ledger.get(SLOT)
    assert row is not None
    assert (row.attempt, row.status, row.run_id, row.reason) == (2, "running", "run-2", None)


def test_a_waiting_slot_is_claimed_and_a_claimed_one_is_not_set_aside(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    ledger.wait(SLOT, "waits for x", trade_date="2026-08-21")
    ledger.wait(SLOT, "waits for x, y", trade_date="2026-08-21")
    waiting = ledger.get(SLOT)
    assert waiting is not None
    assert (waiting.status, waiting.reason, waiting.claimed_by) == ("queued", "waits for x, y", None)

    assert claim(ledger, "sensor")
    assert not ledger.set_aside(SLOT, "missed", "too late", trade_date="2026-08-21")
    ledger.wait(SLOT, "waits again", trade_date="2026-08-21")
    row = ledger.get(SLOT)
    assert row is not None
    assert (row.status, row.claimed_by, row.reason) == ("queued", "sensor", None)


def test_a_skipped_slot_keeps_its_reason_until_it_is_claimed(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    assert ledger.set_aside(SLOT, "skipped", "switched off", trade_date="2026-08-21")
    assert not ledger.set_aside(SLOT, "missed", "too late", trade_date="2026-08-21")
    row = ledger.get(SLOT)
    assert row is not None
    assert (row.status, row.reason) == ("skipped", "switched off")

    assert claim(ledger, "sensor")


def test_runs_are_read_newest_first_and_filtered(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    claim(ledger, "tick")
    ledger.set_aside(
        ScheduledRun("other", "2026-08-22", datetime(2026, 8, 22, 9, 0)),
        "skipped",
        "no trade date",
        trade_date=None,
    )
    ledger.by_hand("other", at=NOW, trade_date="2026-08-21", command_id=7, run_id="run-9")
    ledger.finish("run-9", "success", now=NOW)

    rows, total = ledger.runs()
    assert (total, [row.slot for row in rows]) == (3, ["2026-08-22", "manual:7:2026-08-21", "2026-08-21"])
    assert [row.status for row in ledger.runs(task_key="other", status="skipped")[0]] == ["skipped"]
    assert ledger.runs(day="2026-08-21", limit=1)[1] == 2
    assert ledger.done("other", "2026-08-21")
    assert not ledger.done("fusion_kline_sync", "2026-08-21")
    assert ledger.latest()["other"].command_id == 7


def test_a_command_that_is_tried_again_goes_on_in_its_row(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    ledger.by_hand("c", at=NOW, trade_date="2026-08-21", command_id=7, run_id="run-1")
    ledger.finish("run-1", "failed", now=NOW, reason="the worker died")

    row = ledger.by_hand("c", at=NOW, trade_date="2026-08-21", command_id=7, run_id="run-2")

    assert (row.status, row.run_id, row.reason, row.finished_at) == ("running", "run-2", None, None)
    assert ledger.runs()[1] == 1


def test_what_is_at_work_and_what_the_day_held(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    claim(ledger, "tick")
    ledger.wait(ScheduledRun("b", "2026-08-21", DUE), "waits for a", trade_date="2026-08-21")
    ledger.by_hand("c", at=NOW, trade_date="2026-08-21", command_id=7, run_id="run-9")
    ledger.by_hand("d", at=NOW, trade_date="2026-08-21", command_id=8, run_id="run-10")
    ledger.finish("run-10", "success", now=NOW)

    assert [row.task_key for row in ledger.active()] == ["fusion_kline_sync", "c"]
    assert [row.run_id for row in ledger.active("c")] == ["run-9"]
    assert ledger.active("d") == []
    assert ledger.counts("2026-08-21") == {"queued": 2, "running": 1, "success": 1}
    assert ledger.counts("2026-08-20") == {}


def test_the_reason_of_a_failure_shows_no_password(engine: Engine) -> None:
    ledger = ScheduledRunLedger(engine)
    ledger.by_hand("eod_core", at=NOW, trade_date="2026-08-21", command_id=9, run_id="r9")

    ended = ledger.finish("r9", "failed", now=NOW, reason="OperationalError: mysql://app:hunter2@db/market")

    assert ended is not None
    assert ended.reason == "OperationalError: mysql://app:***@db/market"
