"""Filling a warehouse: a new one from the start, a known one from where it stopped.

Level, not edge: the plan is made from what has succeeded, so that a load that was interrupted goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from resources.calendar import TradeCalendar
from schedules.work import Work

CLOSED = timedelta(hours=15, minutes=30)
"""From this time on a trade date counts as complete enough to be loaded."""
DETAIL_DATES = 5
RANGE_DAYS = 365
"""A range run emits one event per date and asset: at most a year in one run."""

SECURITY_LIST = "security_list"
HISTORY = "history"
DAY = "eod_core"


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


def plan_load(calendar: TradeCalendar, newest: str, loaded: str | None, *, history_dates: int) -> list[Step]:
    """The runs that bring the warehouse up to `newest`. `loaded`: the newest date that was loaded as a
    whole; None = a new warehouse, which gets the security list, bars of `history_dates` trade dates, and
    the newest five dates in full."""
    if loaded is None:
        window = calendar.last(history_dates, newest)
    else:
        window = [day for day in calendar.between(loaded, newest) if day > loaded]
    days = window[-DETAIL_DATES:]
    steps = [Step(SECURITY_LIST, newest, newest)] if loaded is None else []
    if len(window) > len(days):
        steps += [Step(HISTORY, start, end) for start, end in ranges(window)]
    return steps + [Step(DAY, day, day) for day in days]


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
    what it does: step, steps, stage, done."""
    house = work.house
    newest = newest_complete(house.clock.now(), house.calendar)
    count = int(work.args.get("history_dates", house.settings.sample_history_dates))
    loaded = house.slots.newest_done(DAY)
    steps = plan_load(house.calendar, newest, loaded, history_dates=count)
    # A command that goes on after its worker died does not repeat the runs that ended well. The plan of a
    # new warehouse is kept with them, because the first loaded day would otherwise cut it short.
    before: Mapping[str, Any] = work.command.result
    if before.get("plan"):
        steps = [Step(*row) for row in before["plan"]]
    done = list(before.get("done", []))
    work.progress(
        plan=[[step.job, step.start, step.end] for step in steps], done=done, newest=newest, steps=len(steps)
    )
    for number, step in enumerate(steps, start=1):
        if step.name in done:
            continue
        work.check()
        work.progress(step=number, stage=step.name)
        single = step.start == step.end and step.job != HISTORY
        outcome = work.run_job(
            step.job,
            partition_key=step.start if single else None,
            partition_range=None if single else (step.start, step.end),
            trigger="catchup" if loaded is not None else "backfill",
        )
        work.must(outcome, step.name)
        done.append(step.name)
        work.progress(done=done)
    return {**work.facts, "newest": newest, "stage": "done"}
