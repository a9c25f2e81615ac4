"""The vocabulary carries every kind of task of the specification, and changes of it are kept."""

from dataclasses import replace
from datetime import date, datetime

import pytest
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.errors import DeclarationError, InputError, NotFound
from platform_assets.task_table import BY_KEY, TASKS
from resources.warehouse.ledger.tasks import Task, Timing, check_tasks
from resources.warehouse.ledger.tasks_state import TaskTable
from tests.schedules.conftest import DATES

MONITOR = Timing(every_minutes=30, windows=((930, 1130), (1300, 1500)))
CLEANUP = Timing(hm=430, weekday=0)
FRIDAY = date(2026, 8, 21)
NOW = datetime(2026, 8, 21, 12, 0)


@pytest.mark.parametrize(
    ("timing", "cron", "times"),
    [
        (Timing(hm=1540), "40 15 * * *", ["15:40"]),
        (CLEANUP, "30 4 * * 1", []),
        (Timing(hm=5, weekday=4), "5 0 * * 5", ["00:05"]),
        (Timing(hm=905, weekday=6), "5 9 * * 0", []),
        (
            MONITOR,
            "*/30 9-11,13-15 * * *",
            ["09:30", "10:00", "10:30", "11:00", "11:30", "13:00", "13:30", "14:00", "14:30", "15:00"],
        ),
        (Timing(), None, []),
    ],
)
def test_timing_gives_cron_and_slots(timing: Timing, cron: str | None, times: list[str]) -> None:
    assert timing.cron == cron
    assert [f"{due:%H:%M}" for due in timing.on(FRIDAY)] == times


def test_between_leaves_out_its_start_and_takes_its_end() -> None:
    after, until = datetime(2026, 8, 21, 15, 40), datetime(2026, 8, 23, 15, 40)

    assert Timing(hm=1540).between(after, until) == [datetime(2026, 8, 22, 15, 40), until]
    assert CLEANUP.following(datetime(2026, 8, 21, 12, 0)) == [
        datetime(2026, 8, 24, 4, 30),
        datetime(2026, 8, 31, 4, 30),
    ]


def test_the_slot_of_a_daily_task_is_its_day_and_of_a_repeating_one_its_time() -> None:
    daily = Task("a", "a", Timing(hm=1540))
    repeating = Task("b", "b", MONITOR)

    assert (
        daily.scheduled_run(datetime(2026, 8, 21, 15, 40)).name
        == daily.moved(1700).scheduled_run(NOW).name
        == "2026-08-21"
    )
    assert repeating.scheduled_run(datetime(2026, 8, 21, 10, 0)).name == "2026-08-21T10:00"


def test_the_table_declares_this_steps_tasks() -> None:
    crons = {task.key: task.timing.cron for task in TASKS}

    assert crons == {
        "fusion_kline_sync": "40 15 * * *",
        "fusion_daily_sync": "0 16 * * *",
        "fusion_wide_sync": "20 16 * * *",
        "industry_index_sync": "10 16 * * *",
        "news_sync": "0 17 * * *",
        "market_phase_sync": "45 15 * * *",
        "industry_rank_sync": "35 16 * * *",
        "dragon_score_sync": "40 17 * * *",
        "limitup_reason_sync": "5 18 * * *",
        "exchange_sync": "10 18 * * *",
        "builtin_track": "15 18 * * *",
        "preset_track": "25 18 * * *",
        "aux_f10_events_sync": "0 21 * * *",
        "quant_calc": "30 17 * * *",
        "freshness_snapshot": "30 19 * * *",
        "lake_publish": "0 22 * * *",
        "eod_core": None,
        "morning_note": "30 6 * * *",
        "daily_review": "5 16 * * *",
        "daily_report": "30 15 * * *",
        "user_recall": "10 9 * * *",
        "portfolio_mon": "*/30 9-11,13-15 * * *",
        "data_cleanup": "30 4 * * 1",
        "calendar_sync": "15 8 * * 1",
    }
    assert BY_KEY["fusion_wide_sync"].after == ("fusion_kline_sync", "fusion_daily_sync")
    assert BY_KEY["preset_track"].after == ("fusion_wide_sync", "quant_calc")
    late = BY_KEY["exchange_sync"]
    assert (late.after, late.dates, late.max_retries, late.retry_delay_s) == (
        ("fusion_daily_sync",), 10, 2, 600,
    )  # fmt: skip
    cleanup = BY_KEY["data_cleanup"]
    assert (cleanup.trading_day_only, cleanup.partitioned) == (False, False)


def test_wrong_tables_are_refused() -> None:
    one, two = Task("a", "a", Timing(hm=1), after=("b",)), Task("b", "b", Timing(hm=2), after=("a",))

    with pytest.raises(DeclarationError, match="waits for itself"):
        check_tasks((one, two))
    with pytest.raises(DeclarationError, match="no task"):
        check_tasks((one,))
    with pytest.raises(DeclarationError, match="share a key"):
        check_tasks((TASKS[0], TASKS[0]))
    with pytest.raises(DeclarationError, match="windows"):
        Task("c", "c", Timing(every_minutes=5))


def test_a_task_before_what_it_waits_for_is_refused() -> None:
    first, second = Task("a", "a", Timing(hm=1600)), Task("b", "b", Timing(hm=1559), after=("a",))

    with pytest.raises(DeclarationError, match=r"b \(15:59\) is before a \(16:00\), which it waits for"):
        check_tasks((first, second))
    assert check_tasks((first, replace(second, timing=Timing(hm=1600))))


def test_the_order_of_the_specification_is_kept_without_an_end() -> None:
    strict = {task.key: task.after for task in TASKS if task.after_required}

    assert strict == {
        "quant_calc": ("fusion_kline_sync",), "builtin_track": ("dragon_score_sync", "quant_calc"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "hm", "reason"),
    [
        ("builtin_track", 1735, r"builtin_track \(17:35\) is before dragon_score_sync \(17:40\)"),
        ("dragon_score_sync", 1900, r"builtin_track \(18:15\) is before dragon_score_sync \(19:00\)"),
        ("quant_calc", 1500, r"quant_calc \(15:00\) is before fusion_kline_sync \(15:40\)"),
    ],
)
def test_no_task_is_moved_before_what_it_does_not_run_without(
    lite: Engine, key: str, hm: int, reason: str
) -> None:
    table = TaskTable(lite)
    table.publish(TASKS)

    with pytest.raises(InputError, match=f"triggerHm: {reason}"):
        table.retime(key, hm, by="admin", now=NOW)
    assert table.get(key).changed_at is None
    # What only waits for a while may be moved, and the answer says so.
    assert [one.text for one in table.early("fusion_kline_sync", 1610)] == [
        "market_phase_sync (15:45) is before fusion_kline_sync (16:10), which it waits for",
        "daily_review (16:05) is before fusion_kline_sync (16:10), which it waits for",
    ]


@pytest.mark.parametrize("hm", [2400, 1260, -1, 1])
def test_a_time_of_day_is_checked(hm: int) -> None:
    task = BY_KEY["fusion_kline_sync"]
    if hm == 1:
        assert task.moved(hm).timing.text == "00:01"
    else:
        with pytest.raises(InputError, match="triggerHm"):
            task.moved(hm)


def test_a_task_published_by_another_version_is_read() -> None:
    task = BY_KEY["fusion_wide_sync"]
    assert Task.from_facts({**task.facts(), "datasets": ["fusion_stock_wide"]}) == task


def test_a_published_table_reads_back_as_declared(engine: Engine) -> None:
    table = TaskTable(engine)
    table.publish((*TASKS, Task("m", "盘中", MONITOR), Task("c", "c", CLEANUP, after=("m",))))

    assert [state.task for state in table.all()][: len(TASKS)] == list(TASKS)
    assert table.get("m").task.timing == MONITOR
    assert table.get("c").declared.after == ("m",)
    with pytest.raises(NotFound):
        table.get("nothing")


def test_changes_survive_publishing_and_end_with_the_task(engine: Engine) -> None:
    table = TaskTable(engine)
    table.publish(TASKS)
    moved = table.retime("fusion_kline_sync", 1555, by="admin", now=NOW)
    assert (moved.task.timing.hm, moved.declared.timing.hm, moved.changed_by) == (1555, 1540, "admin")

    table.publish(TASKS)
    assert table.get("fusion_kline_sync").task.timing.hm == 1555
    assert table.mirror_enabled("fusion_kline_sync", False, by="ui", now=NOW).enabled is False

    table.publish(TASKS[1:])
    assert [state.key for state in table.all()] == [task.key for task in TASKS[1:]]
    table.publish(TASKS)
    assert table.get("fusion_kline_sync").enabled
    assert table.get("fusion_kline_sync").changed_at is None


def test_a_change_that_changes_nothing_leaves_the_row_alone(lite: Engine) -> None:
    table = TaskTable(lite)
    table.publish(TASKS)

    assert table.retime("fusion_kline_sync", 1540, by="admin", now=NOW).changed_at is None
    assert table.mirror_enabled("fusion_kline_sync", True, by="ui", now=NOW).changed_at is None
    with pytest.raises(InputError, match="no time of day"):
        table.retime("eod_core", 1540, by="admin", now=NOW)
    with pytest.raises(NotFound):
        table.retime("nothing", 1540, by="admin", now=NOW)


def test_the_next_run_is_the_next_slot_on_a_day_that_counts(lite: Engine) -> None:
    table = TaskTable(lite)
    table.publish((*TASKS, Task("m", "盘中", MONITOR), Task("c", "c", CLEANUP, trading_day_only=False)))
    known = TradeCalendar(DATES).is_trade_date
    states = {state.key: state for state in table.all()}
    friday_evening = datetime(2026, 8, 21, 20, 0)

    assert states["fusion_kline_sync"].next_run(NOW, known) == datetime(2026, 8, 21, 15, 40)
    assert states["fusion_kline_sync"].next_run(friday_evening, known) == datetime(2026, 8, 24, 15, 40)
    assert states["m"].next_run(friday_evening, known) == datetime(2026, 8, 24, 9, 30)
    assert states["c"].next_run(friday_evening, known) == datetime(2026, 8, 24, 4, 30)
    assert states["eod_core"].next_run(NOW, known) is None
    assert states["fusion_kline_sync"].next_run(datetime(2026, 8, 25, 20, 0), known) is None
    off = table.mirror_enabled("fusion_kline_sync", False, by="ui", now=NOW)
    assert off.next_run(NOW, known) is None


def test_a_reader_is_told_when_a_task_is_due() -> None:
    reported = {key: BY_KEY[key].timing.described for key in ("data_cleanup", "portfolio_mon", "eod_core")}
    assert reported == {
        "data_cleanup": "Monday 04:30",
        "portfolio_mon": "every 30 minutes, 09:30-11:30 and 13:00-15:00",
        "eod_core": "by hand",
    }
