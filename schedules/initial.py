"""Filling a warehouse: a new one from the start, a known one from where it stopped.

Level, not edge: the plan is made from what has succeeded, so that a load that was interrupted goes on.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from resources.calendar import TradeCalendar
from resources.errors import ConflictError, PlatformError
from schedules.house import House
from schedules.kernels import wait_for_kernels
from schedules.tasks import EOD_CORE
from schedules.work import Work

CLOSED = timedelta(hours=15, minutes=30)
"""From this time on a trade date counts as complete enough to be loaded."""
DETAIL_DATES = 5
RANGE_DAYS = 365
"""A range run emits one event per date and asset: at most a year in one run."""

_FEW = 2
"""Missing dates that are loaded one by one."""

SECURITY_LIST = "security_list"
HISTORY = "history"
REPORTS = "reports"
RECENT = "recent_days"
"""What `eod_core` loads, of several dates in one run: the same rows in a third of the time."""
CALCULATIONS = "calculations"
QUANT = "quant_calc"
DAY = EOD_CORE


@dataclass(frozen=True)
class Step:
    """One run of the load: a job for one trade date or a range of them."""

    job: str
    start: str
    end: str

    @property
    def name(self) -> str:
        return (
            f"{self.job} {self.start}" if self.start == self.end else f"{self.job} {self.start}..{self.end}"
        )


def newest_complete(now: datetime, calendar: TradeCalendar) -> str:
    """The newest trade date whose session is over at market time `now`. CalendarHorizon beyond the
    calendar."""
    today = now.date().isoformat()
    midnight = datetime(now.year, now.month, now.day)
    if calendar.is_trade_date(today) and now < midnight + CLOSED:
        today = (now.date() - timedelta(days=1)).isoformat()
    return calendar.on_or_before(today)


@dataclass(frozen=True)
class Loaded:
    """What the ledger says has succeeded: trade dates of `eod_core`, ends of the ranges of `history`, of
    `reports`, of `recent_days` and of `calculations` (also dates of its scheduled task)."""

    days: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    reports: frozenset[str] = frozenset()
    calculated: frozenset[str] = frozenset()
    recent: frozenset[str] = frozenset()

    @property
    def nothing(self) -> bool:
        return not (self.days or self.ranges or self.recent)


def plan_load(calendar: TradeCalendar, newest: str, loaded: Loaded, *, history_dates: int) -> list[Step]:
    """The runs that bring the warehouse up to `newest`: the security list of a new one, bars of
    `history_dates` trade dates where they are missing, the report periods of those dates, the newest five
    dates in full, and what is calculated from them."""
    window = calendar.last(history_dates, newest)
    newest_dates = window[-DETAIL_DATES:]
    ranged = max(loaded.recent, default="")
    done = {*loaded.days, *(day for day in window if day <= ranged)}
    days = [day for day in newest_dates if day not in done]
    known = max(loaded.ranges, default="")
    bars = [day for day in window if day > known and day not in done]
    steps = [Step(SECURITY_LIST, newest, newest)] if loaded.nothing else []
    if len(bars) > len(days):
        steps += [Step(HISTORY, start, end) for start, end in ranges(bars)]
    if len(bars) > len(days) or known > max(loaded.reports, default=""):
        steps.append(Step(REPORTS, window[0], newest))
    if len(days) > _FEW:
        steps += [Step(RECENT, days[0], days[-2]), Step(DAY, days[-1], days[-1])]
    else:
        steps += [Step(DAY, day, day) for day in days]
    if days or newest not in loaded.calculated:
        steps.append(Step(CALCULATIONS, newest_dates[0], newest))
    return steps


def ranges(days: list[str]) -> list[tuple[str, str]]:
    """Ascending trade dates as ranges of at most a year each."""
    parts: list[tuple[str, str]] = []
    for day in days:
        if parts:
            start = parts[-1][0]
            if (datetime.fromisoformat(day) - datetime.fromisoformat(start)).days < RANGE_DAYS:
                parts[-1] = (start, day)
                continue
        parts.append((day, day))
    return parts


def initial_load(work: Work) -> dict[str, Any]:
    """Command `initial_load`: args `history_dates` (SAMPLE_HISTORY_DATES). Shows in the command's result
    what it does: step, steps, stage, done, failed. A day that fails does not keep the later ones out, nor do
    reports; the command fails at its end, and the next one takes up what is missing. The calculations
    follow as a command of their own: nobody who waits for the data waits for them."""
    house = work.house
    newest = newest_complete(house.clock.now(), house.calendar)
    count = int(work.args.get("history_dates", house.settings.sample_history_dates))
    days, spans, reports, ends, quant, recent = (
        house.slots.done_dates(job) for job in (DAY, HISTORY, REPORTS, CALCULATIONS, QUANT, RECENT)
    )
    loaded = Loaded(days, spans, reports, ends | quant, recent)
    planned = plan_load(house.calendar, newest, loaded, history_dates=count)
    steps = [step for step in planned if step.job != CALCULATIONS]
    done: list[str] = []
    failed: dict[str, str] = {}
    work.progress(newest=newest, steps=len(steps), done=done, failed=failed)
    for number, step in enumerate(steps, start=1):
        work.check()
        work.progress(step=number, stage=step.name)
        single = step.job not in (HISTORY, REPORTS, RECENT)
        outcome = work.run_job(
            step.job,
            partition_key=step.start if single else None,
            partition_range=None if single else (step.start, step.end),
            trigger="backfill" if loaded.nothing else "catchup",
        )
        if step.job not in (DAY, REPORTS, RECENT):
            work.must(outcome, step.name)
        if outcome.success:
            done.append(step.name)
        else:
            failed[step.name] = outcome.error or f"see the run {outcome.run_id}"
        work.progress(done=done, failed=failed)
    for step in planned[len(steps) :]:
        _ask_for_calculations(house, step)
    if failed:
        raise PlatformError("; ".join(f"{name} failed: {why}" for name, why in failed.items()))
    return {**work.facts, "stage": "done"}


def _ask_for_calculations(house: House, step: Step) -> None:
    args = {"start": step.start, "end": step.end}
    with suppress(ConflictError):  # one is under way
        house.commands.enqueue_alone(CALCULATIONS, args, requested_by="initial_load")


def calculations(work: Work) -> dict[str, Any]:
    """Command `calculations`: what is calculated from the trade dates `start` to `end`, as soon as the
    kernels are compiled."""
    wait_for_kernels(work.check)
    start, end = str(work.args["start"]), str(work.args["end"])
    outcome = work.run_job(CALCULATIONS, partition_range=(start, end), trigger="catchup")
    work.must(outcome, f"{CALCULATIONS} {start}..{end}")
    return dict(work.facts)
