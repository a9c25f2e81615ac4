"""A week by the scheduler's own decisions against a table that was written by hand: every scheduled run with
its state, trigger and attempts, the order in which runs begin, and the notifications.

The first day is part of `make test-all`, the whole week of `make soak`.
"""

import re
from datetime import datetime
from itertools import groupby
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from resources.notifications import NotificationStore
from resources.settings import load_settings
from resources.transport.gates import BreakerState
from resources.warehouse.ddl import build_metadata, create_missing
from schedules.services import Services
from tests.schedules.simulated_week import Week
from tests.schedules.week_table import NOTIFICATIONS, ORDER, WEEK

LINE = re.compile(r"(\d\d:\d\d) (\w+) (\w+) (\w+) (\d)(?: (.+))?")
Row = tuple[str, str, str, str, int]


@pytest.fixture
def week(engine: Engine, tmp_path: Path) -> Week:
    tables = tuple(one for one in builtin_registry().tables if one.name == "calc_freshness_snapshot")
    create_missing(engine, build_metadata(tables))
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    clock = ManualClock(datetime(2026, 9, 28), frozen=False)
    services = Services(settings=settings, clock=clock, calendar=shipped_calendar(), engine=engine)
    return Week(services, clock)


def expected(day: str) -> list[tuple[Row, str]]:
    """(row, part of its reason) of a day, as the table has it."""
    lines = [LINE.fullmatch(line) for line in WEEK[day].splitlines() if line]
    return [
        ((found[1], found[2], found[3], found[4], int(found[5])), found[6] or "") for found in lines if found
    ]


def stored(week: Week, day: str) -> list[tuple[Row, str]]:
    """The same of the ledger."""
    rows, _ = week.services.scheduled_runs.runs(limit=1000)
    found = [
        ((f"{row.slot_at:%H:%M}", row.task_key, row.status, row.trigger, row.attempt), row.reason or "")
        for row in rows
        if f"{row.slot_at:%Y-%m-%d}" == day
    ]
    return sorted(found)


def check(week: Week, *days: str) -> None:
    for day in days:
        found, wanted = stored(week, day), sorted(expected(day))
        assert [row for row, _ in found] == [row for row, _ in wanted], day
        unexplained = [
            (row, reason, part)
            for (row, reason), (_, part) in zip(found, wanted, strict=True)
            if part not in reason
        ]
        assert unexplained == [], day
    assert begun(week, *days) == {day: order(day) for day in days}
    assert notified(week, *days) == {day: NOTIFICATIONS[day] for day in days}


def order(day: str) -> list[str]:
    words = []
    for word in ORDER[day].split():
        name, _, times = word.partition("*")
        words += [name] * int(times or 1)
    return words


def begun(week: Week, *days: str) -> dict[str, list[str]]:
    """Tasks in the order in which their runs began, by day."""
    grouped = groupby(week.begun, key=lambda one: f"{one[0]:%Y-%m-%d}")
    found = {day: [task for _, task in runs] for day, runs in grouped}
    return {day: found.get(day, []) for day in days}


def notified(week: Week, *days: str) -> dict[str, list[str]]:
    store = NotificationStore(week.services.settings.data_path / "notifications")
    found = [(one.created_at[:10], one.title) for one in store.newest_first()]
    return {day: [title for at, title in reversed(found) if at == day] for day in days}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def monday(week: Week) -> None:
    week.until(at("2026-09-28T16:02"))
    week.alive = False  # the daemon, with the sensor and the schedules
    week.until(at("2026-09-28T16:07"))
    week.alive = True
    week.until(at("2026-09-28T17:35"))
    week.kill_runs()
    week.until(at("2026-09-29T00:00"))


def tuesday(week: Week) -> None:
    week.breakers = {"eastmoney": {"state": BreakerState.OPEN, "opened_at": "2026-09-29 00:00:00"}}
    week.failing, week.half_done = {"industry_rank_sync"}, {"fusion_daily_sync"}
    week.slow = {"fusion_kline_sync": at("2026-09-29T00:12") - at("2026-09-29T00:00")}
    week.until(at("2026-09-29T12:00"))
    week.switch("daily_report", False, "switch")
    week.until(at("2026-09-29T12:01"))
    week.switch("limitup_reason_sync", False, "admin")
    week.until(at("2026-09-29T12:02"))
    week.retime("news_sync", 1720)
    week.until(at("2026-09-29T18:20"))
    week.kill_runs()
    week.alive = False
    week.until(at("2026-09-29T22:30"))
    week.alive = True
    week.until(at("2026-09-29T23:59"))
    week.breakers, week.failing, week.half_done, week.slow = {}, set(), set(), {}


def wednesday(week: Week) -> None:
    week.until(at("2026-09-30T12:00"))
    week.switch("limitup_reason_sync", True, "admin")
    week.until(at("2026-09-30T16:30"))
    week.clock.at = at("2026-09-30T15:30")
    week.look()
    week.until(at("2026-09-30T16:12"))
    week.clock.at = at("2026-09-30T18:12")
    week.look()
    week.until(at("2026-10-01T00:00"))


def test_a_day_gives_exactly_the_rows_the_order_and_the_notifications_of_the_table(week: Week) -> None:
    monday(week)
    check(week, "2026-09-28")


@pytest.mark.soak
def test_a_week_gives_exactly_the_rows_the_order_and_the_notifications_of_the_table(week: Week) -> None:
    monday(week)
    tuesday(week)
    wednesday(week)
    week.until(at("2026-10-05T00:00"))
    check(week, *WEEK)
