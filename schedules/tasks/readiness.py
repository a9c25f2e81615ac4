"""Whether a scheduled run starts now: pure rules over its task, its time, the market time and past
successes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from core.calendar import CalendarHorizon, TradeCalendar
from resources.warehouse.ledger.tasks import ScheduledRun, Task
from resources.warehouse.ledger.tasks_state import TaskState

ON_TIME = timedelta(minutes=5)
"""A run that starts later than this, and waited for nothing, makes up for something (`catchup`)."""

Done = Callable[[str, str], bool]
"""(task key, trade date) -> whether the task has succeeded for that date."""


class Act(Enum):
    FIRE = "fire"
    WAIT = "wait"
    SKIP = "skip"
    MISS = "miss"


@dataclass(frozen=True)
class Verdict:
    """What to do with a scheduled run, and why. `trade_date` is the date the run works on."""

    act: Act
    reason: str | None = None
    trade_date: str | None = None
    trigger: str = "schedule"


def trade_date_of(task: Task, day: str, calendar: TradeCalendar) -> str | None:
    """The trade date that a run on `day` works on: the day itself, for a calendar-day task the newest
    trade date; None when the day is no trade date and the task wants one. CalendarHorizon beyond the
    calendar."""
    if calendar.is_trade_date(day):
        return day
    return None if task.trading_day_only else calendar.on_or_before(day)


def judge(
    state: TaskState,
    scheduled: ScheduledRun,
    *,
    now: datetime,
    calendar: TradeCalendar,
    done: Done,
    enabled: bool,
    off: str | None = None,
    waited: bool = False,
    watching: datetime | None = None,
) -> Verdict:
    """The verdict on a run that is due (`scheduled.due <= now`). `off`: why the settings keep it from
    running; `waited`: it was seen waiting before; `watching`: since when somebody looks, so that what was
    missed waits for what is made up for."""
    try:
        date = trade_date_of(state.task, scheduled.day, calendar)
    except CalendarHorizon as error:
        return Verdict(Act.SKIP, error.message)
    closed = off or _closed(state, scheduled, date, enabled)
    if date is None or closed is not None:
        return Verdict(Act.SKIP, closed, date)
    pending = [key for key in state.task.after if not done(key, date)]
    if pending:
        begun = scheduled.due if watching is None else max(scheduled.due, watching)
        return _waiting(state.task, pending, date, late=now - scheduled.due, waited=now - begun)
    late = now - scheduled.due
    if late > timedelta(minutes=state.task.grace_minutes):
        limit = state.task.grace_minutes
        return Verdict(Act.MISS, f"not started within {limit} minutes of {scheduled.due:%H:%M}", date)
    return Verdict(Act.FIRE, None, date, "catchup" if late > ON_TIME and not waited else "schedule")


def _closed(state: TaskState, scheduled: ScheduledRun, date: str | None, enabled: bool) -> str | None:
    """Why a scheduled run does not start at all; None when it may."""
    if date is None:
        return f"{scheduled.day} is no trade date"
    if not enabled:
        return "switched off"
    if state.changed_at is not None and state.changed_at > scheduled.due:
        return f"changed at {state.changed_at:%Y-%m-%d %H:%M:%S}, after its time {scheduled.due:%H:%M}"
    return None


def _waiting(task: Task, pending: list[str], date: str, *, late: timedelta, waited: timedelta) -> Verdict:
    """The verdict on a scheduled run whose predecessors have not succeeded yet."""
    names = ", ".join(pending)
    if late > timedelta(minutes=task.grace_minutes):
        return Verdict(Act.MISS, f"{names} did not succeed within {task.grace_minutes} minutes", date)
    if task.after_required or waited < timedelta(minutes=task.wait_minutes):
        return Verdict(Act.WAIT, f"waits for {names}", date)
    return Verdict(Act.FIRE, f"runs without {names}: no success within {task.wait_minutes} minutes", date)
