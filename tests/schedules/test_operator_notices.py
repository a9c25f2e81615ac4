"""What operators are told: failures without a retry to come, stale data, open breakers, a calendar's end."""

from datetime import datetime
from typing import Any

import pytest

from core.calendar import TradeCalendar
from core.declaration.registry import builtin_registry
from platform_assets.task_table import BY_KEY
from resources.notifications import NotificationStore
from resources.warehouse.ddl import build_metadata, create_missing
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Sql
from schedules.commands.operator_notices import Breakers, tell
from schedules.services import Services

QUIET: Breakers = {"em_breaker": {"state": "closed", "opened_at": None}}
OPEN: Breakers = {"em_breaker": {"state": "OPEN", "opened_at": "2026-08-21 19:40:00"}}
NOW = datetime(2026, 8, 21, 20, 0)


@pytest.fixture
def evening(services: Services) -> Services:
    """The evening of a trade date with a calendar that is long enough, and a table for freshness."""
    tables = tuple(one for one in builtin_registry().tables if one.name == "calc_freshness_snapshot")
    create_missing(services.engine, build_metadata(tables))
    services.clock.at = NOW  # type: ignore[attr-defined]
    long = TradeCalendar([*services.calendar.dates, "2027-06-30"])
    return Services(services.settings, services.clock, long, services.engine)


def put(services: Services, table: str, **row: Any) -> None:
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(Sql(services.engine).insert(table, tuple(row)), tuple(row.values()))


def failed(
    services: Services, key: str, slot: str, attempt: int, at: str = "2026-08-21 19:00:00.000000"
) -> None:
    put(
        services, "sys_slot", task_key=key, slot=slot, slot_at=f"{slot} 15:40:00", status="failed",
        attempt=attempt, trigger_type="schedule", reason="every source failed", run_id=f"run {key} {slot}",
        finished_at=at,
    )  # fmt: skip


def stale(services: Services, *dimensions: str) -> None:
    for name in dimensions:
        put(
            services, "calc_freshness_snapshot", snapshot_date="2026-08-21", dimension=name, kind="trading",
            max_lag=1, latest_date="2026-08-14", cutoff="2026-08-20", is_stale=1,
        )  # fmt: skip


def reported(services: Services, breakers: Breakers = QUIET) -> list[tuple[str, str | None, str | None]]:
    tell(services, lambda _: breakers)
    store = NotificationStore(services.settings.data_path / "notifications")
    return sorted((one.kind, one.key, one.link) for one in store.newest_first())


def test_work_that_a_person_asked_for_is_told_by_its_date(evening: Services) -> None:
    """Not by the number of the command, which says nothing to who reads it."""
    put(
        evening, "sys_slot", task_key="eod_core", slot="manual:78:2026-08-21", trade_date="2026-08-21",
        slot_at="2026-08-21 18:00:00", status="partial", attempt=9, trigger_type="manual",
        reason="sw is missing", run_id="run 78", finished_at="2026-08-21 19:00:00.000000",
    )  # fmt: skip
    tell(evening, lambda _: QUIET)

    (notice,) = NotificationStore(evening.settings.data_path / "notifications").newest_first()
    assert notice.title == "任务部分完成：收盘核心同步（2026-08-21）"


def test_a_failure_is_told_when_no_retry_follows_and_once(evening: Services) -> None:
    retries = BY_KEY["fusion_kline_sync"].max_retries
    failed(evening, "quant_calc", "2026-08-21", 1, at="2026-08-21 19:58:00.000000")  # a retry is due
    failed(evening, "fusion_kline_sync", "2026-08-21", retries + 1)
    failed(evening, "fusion_kline_sync", "2026-08-19", retries + 1, at="2026-08-20 19:59:00.000000")
    failed(evening, "history", "2026-08-21", 1)

    page = f"http://127.0.0.1:{evening.settings.dagster_port}/runs/run fusion_kline_sync 2026-08-21"
    only = [("task_failed", "fusion_kline_sync 2026-08-21", page)]
    assert reported(evening) == only
    assert reported(evening) == only
    evening.clock.at = datetime(2026, 8, 21, 20, 14)  # type: ignore[attr-defined]
    kinds = [key for _, key, _ in reported(evening)]
    assert kinds == ["fusion_kline_sync 2026-08-21", "quant_calc 2026-08-21"], "the retry did not come"
    evening.clock.at = datetime(2026, 8, 22, 8, 0)  # type: ignore[attr-defined]
    assert len(reported(evening)) == 4, "another day: told anew while it is not a day old"


def test_stale_data_and_open_breakers_have_one_link_each(evening: Services) -> None:
    stale(evening, "fusion_margin", "raw_northbound")
    assert reported(evening, OPEN) == [
        ("breaker_open", "em_breaker", "/api/v1/datamgr/probe-all"),
        ("stale", "fusion_margin", "/api/v1/datamgr/stats/freshness"),
        ("stale", "raw_northbound", "/api/v1/datamgr/stats/freshness"),
    ]


def test_many_stale_dimensions_are_one_notification(evening: Services) -> None:
    stale(evening, *(f"fusion_{number:02d}" for number in range(11)))
    assert [(kind, key) for kind, key, _ in reported(evening)] == [("stale", "many")]


def test_a_calendar_that_ends_is_told(evening: Services) -> None:
    short = TradeCalendar([*evening.calendar.dates[:-1], "2026-09-10"])
    ending = Services(evening.settings, evening.clock, short, evening.engine)
    assert [(kind, key) for kind, key, _ in reported(ending)] == [("calendar_horizon", "2026-09-10")]
