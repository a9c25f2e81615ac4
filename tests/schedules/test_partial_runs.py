"""A scheduled run of which some tables were loaded: tried again as its task says and no more often, and done
for what does not need the tables that it lacks."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from platform_assets.task_table import BY_KEY
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.tasks import ScheduledRun
from resources.warehouse.ledger.tasks_state import TaskState
from resources.warehouse.sql import Sql
from schedules.commands.operator_notices import failed_tasks
from schedules.services import Services
from schedules.tasks.readiness import Act, judge
from schedules.tasks.reconciliation import Cursor, Reconciler, Reconciliation, RunFate, done_for

DAY, KLINE = "2026-08-21", "fusion_kline_sync"
DUE = datetime(2026, 8, 21, 15, 40)
WHY = "ref__ref_exright: tdx: no answer"


@dataclass
class Fates:
    """What the orchestrator says of runs."""

    known: dict[str, RunFate] = field(default_factory=dict)

    def of_scheduled_run(self, task_key: str, slot: str, attempt: int) -> str | None:
        return None

    def fate(self, run_id: str) -> RunFate | None:
        return self.known.get(run_id)


def reconciled(services: Services, fates: Fates, now: datetime) -> Reconciliation:
    states = [TaskState.of(BY_KEY[KLINE])]
    return Reconciler(services, states, fates, served={}).reconcile(Cursor(DUE, DUE, DUE), now)


def batches(services: Services, run_id: str, **status: str) -> None:
    with transaction(services.engine) as connection:
        for table, ended in status.items():
            row = {
                "batch_id": f"{run_id} {table}", "table_name": table, "run_id": run_id,
                "partition_key": DAY, "status": ended, "started_at": f"{DAY} 15:41:00",
            }  # fmt: skip
            insert = Sql(services.engine).insert("sys_batch", tuple(row))
            connection.exec_driver_sql(insert, tuple(row.values()))


def begun(services: Services, run_id: str, attempt: int) -> None:
    scheduled = ScheduledRun(KLINE, DAY, DUE)
    if attempt == 1:
        assert services.scheduled_runs.claim(scheduled, "tick", trade_date=DAY)
    services.scheduled_runs.begin(KLINE, DAY, run_id, now=DUE)


def state(services: Services) -> tuple[str, int, str | None]:
    row = services.scheduled_runs.get(ScheduledRun(KLINE, DAY, DUE))
    assert row is not None
    return row.status, row.attempt, row.reason


def test_it_is_tried_again_as_often_as_a_failed_one_and_stays_what_it_is(services: Services) -> None:
    fates, task = Fates(), BY_KEY[KLINE]
    now = DUE
    for attempt in range(1, task.max_retries + 2):
        begun(services, f"r{attempt}", attempt)
        now += timedelta(minutes=2)
        fates.known[f"r{attempt}"] = RunFate("partial", WHY)
        reconciled(services, fates, now)
        assert state(services) == ("partial", attempt, WHY)
        assert reconciled(services, fates, now + timedelta(seconds=30)).requests == []
        now += timedelta(seconds=task.retry_delay_s + 1)
        requested = [one.attempt for one in reconciled(services, fates, now).requests]
        assert requested == ([attempt + 1] if attempt <= task.max_retries else [])

    services.clock.at = now  # type: ignore[attr-defined]
    (notice,) = failed_tasks(services)
    assert (notice.kind, notice.content) == ("task_failed", WHY)
    assert "部分" in notice.title


def test_one_that_ended_well_with_a_failed_batch_is_not_tried_again(services: Services) -> None:
    begun(services, "r1", 1)
    batches(services, "r1", raw_news="failed")
    fates = Fates({"r1": RunFate("success")})
    reconciled(services, fates, DUE + timedelta(minutes=2))

    assert state(services) == ("partial", 1, None)
    assert reconciled(services, fates, DUE + timedelta(hours=1)).requests == []


@pytest.mark.parametrize(
    ("lacking", "waits"),
    [
        (("ref_exright",), {"quant_calc": False, "market_phase_sync": False}),
        (("fusion_kline_daily",), {"quant_calc": True, "market_phase_sync": True}),
        (("fusion_kline_bar", "ref_name_history"), {"quant_calc": True, "market_phase_sync": True}),
        (("fusion_kline_bar",), {"quant_calc": False, "market_phase_sync": False}),
    ],
)
def test_who_comes_after_it_waits_for_the_tables_that_it_is_made_from(
    services: Services, lacking: tuple[str, ...], waits: dict[str, bool]
) -> None:
    begun(services, "r1", 1)
    batches(services, "r1", fusion_index_daily="success", **dict.fromkeys(lacking, "failed"))
    services.scheduled_runs.finish("r1", "partial", now=DUE, reason=WHY)

    for key, expected in waits.items():
        task = BY_KEY[key]
        verdict = judge(
            TaskState.of(task),
            task.scheduled_run(task.timing.on(DUE.date())[0]),
            now=task.timing.on(DUE.date())[0],
            calendar=services.calendar,
            done=done_for(task, services.scheduled_runs),
            enabled=True,
        )
        assert (verdict.act is Act.WAIT) == expected, (key, verdict)
