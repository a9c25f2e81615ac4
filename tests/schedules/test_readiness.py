"""Whether a scheduled run runs: trade dates, switches, moved times, predecessors, lateness."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.calendar import TradeCalendar
from core.clock import ManualClock
from resources.warehouse.ledger.tasks import Task, Timing
from resources.warehouse.ledger.tasks_state import TaskState
from schedules.tasks.readiness import Act, Done, Verdict, judge
from tests.schedules.conftest import DATES

CALENDAR = TradeCalendar(DATES)
KLINE = Task("kline", "kline", Timing(hm=1540))
WIDE = Task("wide", "wide", Timing(hm=1620), after=("kline", "daily"), wait_minutes=40)


def succeeded(*keys: str) -> Done:
    return lambda key, date: key in keys and date == "2026-08-21"


def verdict(
    task: Task,
    at: datetime,
    *,
    late: timedelta = timedelta(seconds=3),
    done: Done | None = None,
    state: TaskState | None = None,
    enabled: bool = True,
    waited: bool = False,
) -> Verdict:
    clock = ManualClock(at)
    slot = task.scheduled_run(clock.now())
    clock.advance(late)
    return judge(
        state or TaskState.of(task),
        slot,
        now=clock.now(),
        calendar=CALENDAR,
        done=done or succeeded(),
        enabled=enabled,
        waited=waited,
    )


def friday(hour: int, minute: int) -> datetime:
    return datetime(2026, 8, 21, hour, minute)


def test_a_due_slot_on_a_trade_date_fires() -> None:
    assert verdict(KLINE, friday(15, 40)) == Verdict(Act.FIRE, None, "2026-08-21", "schedule")


def test_a_weekend_is_skipped_with_the_reason() -> None:
    found = verdict(KLINE, datetime(2026, 8, 22, 15, 40))

    assert (found.act, found.reason) == (Act.SKIP, "2026-08-22 is no trade date")


def test_a_calendar_day_task_works_on_the_newest_trade_date_at_the_weekend() -> None:
    news = replace(KLINE, trading_day_only=False)

    assert verdict(news, datetime(2026, 8, 23, 17, 0)) == Verdict(Act.FIRE, None, "2026-08-21")


def test_beyond_the_calendar_nothing_is_guessed() -> None:
    found = verdict(replace(KLINE, trading_day_only=False), datetime(2026, 9, 1, 15, 40))

    assert found.act is Act.SKIP
    assert "calendar ends on 2026-08-25" in (found.reason or "")


def test_a_switched_off_task_is_skipped() -> None:
    assert verdict(KLINE, friday(15, 40), enabled=False).reason == "switched off"


@pytest.mark.parametrize(("second", "act"), [(0, Act.FIRE), (1, Act.SKIP)])
def test_a_time_moved_into_the_past_does_not_fire(second: int, act: Act) -> None:
    changed = TaskState(KLINE, KLINE, changed_at=friday(15, 40).replace(second=second))

    assert verdict(KLINE, friday(15, 40), state=changed).act is act


def test_a_task_waits_for_what_it_needs_and_then_runs_with_a_warning() -> None:
    done = succeeded("kline")
    assert verdict(WIDE, friday(16, 20), done=done).reason == "waits for daily"
    assert verdict(WIDE, friday(16, 20), done=done, late=timedelta(minutes=39)).act is Act.WAIT

    after = verdict(WIDE, friday(16, 20), done=done, late=timedelta(minutes=40))
    assert after.act is Act.FIRE
    assert after.reason == "runs without daily: no success within 40 minutes"
    assert verdict(WIDE, friday(16, 20), done=succeeded("kline", "daily")).act is Act.FIRE


def test_yesterdays_success_does_not_count() -> None:
    assert verdict(WIDE, datetime(2026, 8, 24, 16, 20), done=succeeded("kline", "daily")).act is Act.WAIT


def test_a_task_that_must_run_after_another_never_runs_without_it() -> None:
    strict = replace(WIDE, after_required=True)

    assert verdict(strict, friday(16, 20), late=timedelta(minutes=300)).act is Act.WAIT
    missed = verdict(strict, friday(16, 20), late=timedelta(minutes=361))
    assert missed.act is Act.MISS
    assert "kline, daily did not succeed" in (missed.reason or "")


def test_lateness_makes_a_catchup_and_then_a_miss() -> None:
    assert verdict(KLINE, friday(15, 40), late=timedelta(minutes=5)).trigger == "schedule"
    assert verdict(KLINE, friday(15, 40), late=timedelta(minutes=6)).trigger == "catchup"
    assert verdict(KLINE, friday(15, 40), late=timedelta(minutes=6), waited=True).trigger == "schedule"
    assert verdict(KLINE, friday(15, 40), late=timedelta(minutes=361)).act is Act.MISS
