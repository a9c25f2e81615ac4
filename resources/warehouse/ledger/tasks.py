"""What a scheduled task is: when it is due, what it waits for, what it runs. Pure."""

import calendar
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from typing import Any

from core.errors import DeclarationError, InputError


def _clock_time(hm: int) -> str:
    return f"{hm // 100:02d}:{hm % 100:02d}"


def check_hm(hm: int) -> int:
    """A time of day as HHMM, 0..2359 with minutes below 60; InputError otherwise."""
    if not 0 <= hm <= 2359 or hm % 100 > 59:
        raise InputError("triggerHm", f"{hm} is no time of day (HHMM, 0..2359, minutes below 60)")
    return hm


@dataclass(frozen=True)
class Timing:
    """When a task is due, in local exchange time.

    Once a day (`hm`, with `weekday` 0 = Monday once a week), or every `every_minutes` inside `windows`
    (pairs of HHMM, both ends inclusive); neither = the task has no time and is only started by hand.
    """

    hm: int | None = None
    weekday: int | None = None
    every_minutes: int | None = None
    windows: tuple[tuple[int, int], ...] = ()

    @property
    def timed(self) -> bool:
        return self.hm is not None or self.every_minutes is not None

    @property
    def movable(self) -> bool:
        """Whether the task has one time of day that can be changed."""
        return self.hm is not None

    @property
    def text(self) -> str | None:
        return None if self.hm is None else _clock_time(self.hm)

    @property
    def described(self) -> str:
        """For a reader: `Monday 04:30`, `every 30 minutes, 09:30-11:30 and 13:00-15:00`, `by hand`."""
        if self.hm is not None:
            day = "" if self.weekday is None else f"{calendar.day_name[self.weekday]} "
            return day + _clock_time(self.hm)
        if self.every_minutes is None:
            return "by hand"
        windows = (f"{_clock_time(start)}-{_clock_time(end)}" for start, end in self.windows)
        return f"every {self.every_minutes} minutes, {' and '.join(windows)}"

    @property
    def cron(self) -> str | None:
        """The cron line of the task; a repeating task's line covers its windows' whole hours, and the
        ticks outside the windows are not due."""
        if self.hm is not None:
            day = "*" if self.weekday is None else str((self.weekday + 1) % 7)
            return f"{self.hm % 100} {self.hm // 100} * * {day}"
        if self.every_minutes is None:
            return None
        hours = ",".join(f"{start // 100}-{end // 100}" for start, end in self.windows)
        return f"*/{self.every_minutes} {hours} * * *"

    def on(self, day: date) -> list[datetime]:
        """The due times of one calendar day, ascending."""
        midnight = datetime(day.year, day.month, day.day)
        if self.hm is not None:
            if self.weekday is not None and day.weekday() != self.weekday:
                return []
            return [midnight + timedelta(hours=self.hm // 100, minutes=self.hm % 100)]
        if self.every_minutes is None:
            return []
        minutes = range(0, 24 * 60, self.every_minutes)
        return [midnight + timedelta(minutes=m) for m in minutes if self._inside(m // 60 * 100 + m % 60)]

    def _inside(self, hm: int) -> bool:
        return any(start <= hm <= end for start, end in self.windows)

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        """Due times in (after, until], ascending."""
        days = (until.date() - after.date()).days
        return [
            due
            for offset in range(days + 1)
            for due in self.on(after.date() + timedelta(days=offset))
            if after < due <= until
        ]

    def following(self, now: datetime, days: int = 10) -> list[datetime]:
        """The due times after `now` within the next `days` days."""
        return self.between(now, now + timedelta(days=days))


@dataclass(frozen=True)
class ScheduledRun:
    """One time at which a task is due. `name` is its key in the ledger: the date of a task that runs once
    a day (so that moving the time cannot make a second scheduled run), the time of a repeating one."""

    task: str
    name: str
    due: datetime

    @property
    def day(self) -> str:
        return self.due.date().isoformat()


@dataclass(frozen=True)
class Task:
    """One row of the task table, as declared.

    `after`: keys whose success for the same trade date is awaited, at most `wait_minutes`; then the task
    runs with a warning, or not at all when `after_required`. `grace_minutes`: how late a run may still
    be made up for. `partitioned`: the job takes the trade date as partition key, and with `dates` above 1
    so many of the newest trade dates. `of_market`: it judges the market as a whole, so it does not run
    where a watch list takes its place. `retry_delay_s` after a failed attempt, at most `max_retries` times,
    and once in any case after one that never began.
    """

    key: str
    name: str
    timing: Timing
    domains: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    after_required: bool = False
    wait_minutes: int = 40
    grace_minutes: int = 360
    trading_day_only: bool = True
    partitioned: bool = True
    dates: int = 1
    of_market: bool = False
    max_retries: int = 0
    retry_delay_s: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        if self.timing.hm is not None:
            check_hm(self.timing.hm)
        if self.timing.hm is not None and self.timing.every_minutes is not None:
            raise DeclarationError(f"task {self.key}: a time of day or a repetition, not both")
        if self.timing.every_minutes is not None and not self.timing.windows:
            raise DeclarationError(f"task {self.key}: a repetition needs the windows it runs in")
        if self.key in self.after:
            raise DeclarationError(f"task {self.key} waits for itself")

    def scheduled_run(self, due: datetime) -> ScheduledRun:
        repeating = self.timing.every_minutes is not None
        name = due.strftime("%Y-%m-%dT%H:%M") if repeating else due.date().isoformat()
        return ScheduledRun(self.key, name, due)

    def retries(self, *, began: bool) -> int:
        """How often a failed run is tried again. One that never began has done nothing: its process could
        not be started in time, which a busy machine may cause."""
        return self.max_retries if began else max(1, self.max_retries)

    def moved(self, hm: int | None) -> "Task":
        """The task at another time of day; None = as declared."""
        if hm is None or hm == self.timing.hm:
            return self
        if not self.timing.movable:
            raise InputError("triggerHm", f"{self.key} has no time of day that could be changed")
        return replace(self, timing=replace(self.timing, hm=check_hm(hm)))

    def facts(self) -> dict[str, Any]:
        """JSON of the declaration; `Task.from_facts` reads it back."""
        values = dict(self.__dict__)
        values["timing"] = dict(self.timing.__dict__)
        return values

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Task":
        """The task that a published row holds; fields that another version declared are ignored."""
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in facts.items() if name in known}
        timing = dict(values.pop("timing"))
        timing["windows"] = tuple((int(a), int(b)) for a, b in timing.get("windows", ()))
        for name in ("domains", "after"):
            values[name] = tuple(values.get(name, ()))
        return cls(timing=Timing(**timing), **values)


@dataclass(frozen=True)
class Early:
    """A task whose time of day is before that of a task that it waits for."""

    task: Task
    before: Task

    @property
    def text(self) -> str:
        times = (f"{one.key} ({one.timing.text})" for one in (self.task, self.before))
        return "{} is before {}, which it waits for".format(*times)


def early_tasks(tasks: Collection[Task]) -> list[Early]:
    """Tasks that are due before what they wait for, as far as both run once a day."""
    daily = {task.key: task for task in tasks if task.timing.hm is not None and task.timing.weekday is None}
    return [
        Early(task, daily[name])
        for task in daily.values()
        for name in task.after
        if name in daily and int(task.timing.hm or 0) < int(daily[name].timing.hm or 0)
    ]


def check_tasks(tasks: Collection[Task]) -> tuple[Task, ...]:
    """Keys are unique, every `after` exists and is due before, nothing waits in a circle; DeclarationError
    otherwise."""
    by_key = {task.key: task for task in tasks}
    if len(by_key) != len(tasks):
        raise DeclarationError("two tasks share a key")
    for task in tasks:
        for name in task.after:
            if name not in by_key:
                raise DeclarationError(f"task {task.key} waits for {name!r}, which is no task")
    for task in tasks:
        seen: set[str] = set()
        todo = list(task.after)
        while todo:
            name = todo.pop()
            if name == task.key:
                raise DeclarationError(f"task {task.key} waits for itself through {', '.join(sorted(seen))}")
            if name not in seen:
                seen.add(name)
                todo += by_key[name].after
    for early in early_tasks(tasks):
        raise DeclarationError(early.text)
    return tuple(tasks)
