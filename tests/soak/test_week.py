"""A week of the whole platform, every process real, on a market clock that is driven from one due time to the
next, against a table that was written by hand (`week_table.py`): every scheduled run with its state, trigger
and attempts, the order in which runs were asked for, the rows of the tables and the notifications.

What the scheduler decides in the same week is tested without processes in tests/schedules/test_week.py.
"""

import re
import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from resources.notifications import NotificationStore
from resources.warehouse.sql import Sql
from tests.schedules.test_week import LINE
from tests.soak.simulated import QUIET, simulated_platform
from tests.soak.test_ticks import HISTORY, LOAD_S, settled
from tests.soak.week import RealWeek
from tests.soak.week_table import NOTIFICATIONS, ORDER, ROWS, STALE, WEEK

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc"),
]
BEGIN = datetime(2026, 9, 28)
WORD = re.compile(r"\{([^}]*)\}|(\S+)")
Row = tuple[str, str, str, str, int]


def expected(day: str) -> list[tuple[Row, str]]:
    """(row, part of its reason) of a day, as the table has it."""
    lines = [LINE.fullmatch(line) for line in WEEK[day].splitlines() if line]
    return sorted(
        ((found[1], found[2], found[3], found[4], int(found[5])), found[6] or "") for found in lines if found
    )


def stored(week: RealWeek, day: str) -> list[tuple[Row, str]]:
    """The same of the ledger."""
    return sorted(
        ((f"{row.slot_at:%H:%M}", row.task_key, row.status, row.trigger, row.attempt), row.reason or "")
        for row in week.rows(BEGIN - timedelta(minutes=1)).values()
        if f"{row.slot_at:%Y-%m-%d}" == day
    )


def order(day: str) -> list[frozenset[str] | str]:
    """Tasks of the table in their order; those of one moment as a set."""
    found: list[frozenset[str] | str] = []
    for group, word in WORD.findall(ORDER[day]):
        name, _, times = word.partition("*")
        found += [frozenset(group.split())] if group else [name] * int(times or 1)
    return found


def in_order(tasks: list[str], day: str) -> list[frozenset[str] | str]:
    """What Dagster was asked for on a day, grouped as the table is."""
    left, found = list(tasks), []
    for part in order(day):
        size = 1 if isinstance(part, str) else len(part)
        taken, left = left[:size], left[size:]
        found.append(frozenset(taken) if isinstance(part, frozenset) else "".join(taken))
    return [*found, *left]


def differences(week: RealWeek, day: str) -> dict[str, object]:
    """What of a day is not as the table says."""
    found, wanted = stored(week, day), expected(day)
    rows, rows_wanted = [row for row, _ in found], [row for row, _ in wanted]
    said: dict[str, object] = {}
    if rows != rows_wanted:
        said["missing"] = [row for row in rows_wanted if row not in rows]
        said["beside"] = [one for one in found if one[0] not in rows_wanted]
    elif any(part not in reason for (_, reason), (_, part) in zip(found, wanted, strict=True)):
        said["reasons"] = found
    asked = [task for due, task in week.asked_for() if f"{due:%Y-%m-%d}" == day]
    if in_order(asked, day) != order(day):
        said["order"] = asked
    told = notified(week, day)
    if told != NOTIFICATIONS[day]:
        said["notifications"] = told
    outdated = stale(week, day)
    if outdated != STALE[day]:
        said["stale"] = outdated
    number = list(WEEK).index(day)
    counts = {table: count(week, table, day) for table in ROWS}
    if counts != {table: counted[number] for table, counted in ROWS.items()}:
        said["rows"] = counts
    return said


def notified(week: RealWeek, day: str) -> list[str]:
    """Titles of a day but for stale dimensions, which follow from the snapshot (`stale`)."""
    found = NotificationStore(week.platform.folder / "notifications").newest_first()
    return [one.title for one in reversed(list(found)) if one.created_at[:10] == day and one.kind != "stale"]


def stale(week: RealWeek, day: str) -> set[str]:
    """Dimensions that the snapshot of a day calls stale; each is a notification of that day."""
    told = NotificationStore(week.platform.folder / "notifications").newest_first()
    rows = Sql(week.place.services.engine).rows(
        "SELECT dimension FROM calc_freshness_snapshot WHERE snapshot_date=? AND is_stale=1", (day,)
    )
    found = {str(name) for (name,) in rows}
    assert found <= {str(one.key) for one in told if one.kind == "stale" and one.created_at[:10] == day}
    return found


DATED: Mapping[str, str] = {
    "calc_freshness_snapshot": "snapshot_date",
    "calc_market_phase": "trade_date",
    "fusion_quote_snapshot": "trade_date",
}


def count(week: RealWeek, table: str, day: str) -> int:
    column = DATED.get(table, "date")
    ((found,),) = Sql(week.place.services.engine).rows(
        f"SELECT COUNT(*) FROM {table} WHERE {column}=?", (day,)
    )
    return int(found)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


def monday(week: RealWeek) -> None:
    for moment, name in (
        ("09-28T10:15", "worker"),
        ("09-28T11:45", "simulated_market"),
        ("09-28T13:15", "dagster_ui"),
        ("09-28T13:45", "api"),
        ("09-28T15:59:30", "dagster_daemon"),
    ):
        week.until(at(moment))
        week.kill(name)
    week.until(at("09-28T17:30"))
    week.running("quant_calc")
    week.kill("code_server")
    week.ready()
    week.ended("quant_calc")
    week.until_midnight(at("09-28"))


def tuesday(week: RealWeek) -> None:
    week.ban("sw")
    week.until(at("09-29T12:00"))
    week.platform.orchestrator.switch("daily_report", False)
    week.until(at("09-29T12:01"))
    week.change("limitup_reason_sync", enabled=False)
    week.until(at("09-29T12:02"))
    week.change("news_sync", triggerHm=1720)
    week.ready()
    week.until(at("09-29T18:20"))
    week.settle()
    week.switch_off()
    week.platform.clock.change(at=at("09-29T22:30"), rate=1.0)
    week.platform.start()
    week.ban("sw")
    # What the start asked for is done before the night: figures that the next morning brings are not missing.
    settled(week.place, LOAD_S)
    week.until_midnight(at("09-29"))
    week.lift_bans()


def wednesday(week: RealWeek) -> None:
    week.until(at("09-30T12:00"))
    week.change("limitup_reason_sync", enabled=True)
    week.until(at("09-30T16:30"))
    week.settle()
    week.platform.clock.change(at=at("09-30T15:30"))
    week.until(at("09-30T16:12"))
    week.platform.clock.change(at=at("09-30T18:12"))
    week.until_midnight(at("09-30"))


def holiday(week: RealWeek) -> None:
    for day in ("10-01", "10-02", "10-03", "10-04"):
        week.until_midnight(at(day))


PARTS: Mapping[str, Callable[[RealWeek], None]] = {
    "2026-09-28": monday, "2026-09-29": tuesday, "2026-09-30": wednesday, "2026-10-01": holiday
}  # fmt: skip


def test_a_week_gives_exactly_what_the_table_says(tmp_path: Path) -> None:
    last_evening = BEGIN - timedelta(minutes=115)
    with simulated_platform(
        tmp_path / "data", last_evening, APP_ROLE="all", API_PORT="0", SAMPLE_HISTORY_DATES=HISTORY, **QUIET
    ) as (platform, place):
        settled(place, LOAD_S)
        platform.clock.change(at=BEGIN - timedelta(minutes=2))
        week = RealWeek(platform, place, BEGIN)
        for first, part in PARTS.items():
            part(week)
            sys.stdout.write(f"soak: week, {first}: {differences(week, first) or 'as the table says'}\n")
            sys.stdout.flush()
        wrong = {day: found for day in WEEK if (found := differences(week, day))}
    assert wrong == {}
