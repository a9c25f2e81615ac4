"""Wide rows that are older than an input of their trade date are asked for again, once for each change."""

import json
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.declaration.registry import builtin_registry
from resources.warehouse.ddl import build_metadata
from resources.warehouse.engine import reading, transaction
from resources.warehouse.sql import Sql
from schedules.services import Services
from schedules.tasks.missing_dates_sensor import GapKeeper
from schedules.tasks.outdated_rows import inputs_of
from tests.schedules.test_missing_dates import opened

REGISTRY = builtin_registry()
WIDE = REGISTRY.dataset("stock_wide")
DAY, NEXT = "2026-08-20", "2026-08-21"


@pytest.fixture
def services(engine: Engine, tmp_path: Path) -> Services:
    return opened(engine, tmp_path)


def batch(services: Services, table: str, day: str, at: str, **more: Any) -> None:
    values = {
        "batch_id": uuid.uuid4().hex,
        "table_name": table,
        "partition_key": day,
        "status": "success",
        "rows_ok": 50,
        "rows_written": 50,
        "started_at": f"2026-08-21 {at}:00.000000",
        "finished_at": f"2026-08-21 {at}:01.000000",
        **more,
    }
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(
            Sql(services.engine).insert("sys_batch", list(values)), tuple(values.values())
        )


def asked(services: Services) -> list[Any]:
    with reading(services.engine) as connection:
        rows = connection.exec_driver_sql(
            "SELECT args_json FROM sys_command WHERE command='run_job' ORDER BY id"
        ).all()
    return [json.loads(text) for (text,) in rows]


def look(services: Services) -> dict[str, list[str]]:
    return GapKeeper(services).look(datetime(2026, 8, 21, 19)).outdated


def test_inputs_are_the_owners_by_trade_date() -> None:
    inputs = inputs_of(WIDE, REGISTRY)

    assert {"fusion_fund_flow", "fusion_quote_snapshot", "fusion_valuation"} <= set(inputs)
    # Written by report period, or of now alone: their batches are of no trade date.
    assert not {"fusion_finance_indicator", "fusion_stock_master"} & set(inputs)
    assert inputs_of(REGISTRY.dataset("kline_daily"), REGISTRY) == ()


def test_a_repaired_input_of_a_past_day_has_its_wide_rows_calculated_again(services: Services) -> None:
    for day in (DAY, NEXT):
        batch(services, "fusion_fund_flow", day, "16:00")
        batch(services, WIDE.table_name, day, "16:20")
    assert look(services) == {}
    batch(services, "fusion_fund_flow", DAY, "18:00", rows_written=0)  # confirmed, nothing new
    assert look(services) == {}

    batch(services, "fusion_fund_flow", DAY, "18:30", rows_written=1)

    assert look(services) == {WIDE.name: [DAY]}
    assert look(services) == {WIDE.name: [DAY]}
    assert asked(services) == [{"job": "stock_wide", "partition_range": [DAY, DAY], "trigger": "catchup"}]
    # Of single codes alone is not the whole date.
    batch(services, WIDE.table_name, DAY, "18:40", trigger_ref="fusion_codes")
    assert look(services) == {WIDE.name: [DAY]}
    batch(services, WIDE.table_name, DAY, "18:50")
    assert look(services) == {}


def test_what_was_asked_for_and_failed_waits_for_the_next_change(services: Services) -> None:
    batch(services, WIDE.table_name, DAY, "16:20")
    batch(services, "fusion_valuation", DAY, "18:30")
    look(services)
    while (command := services.commands.claim("w")) is not None:
        services.commands.finish(command, "failed", error="no quotes")

    assert look(services) == {}
    batch(services, "fusion_valuation", DAY, "18:45")
    assert look(services) == {WIDE.name: [DAY]}
    assert len(asked(services)) == 2


CLOSED_AFTER_ALL, OPEN_AFTER_ALL = "2026-08-19", "2026-08-18"


def corrected(services: Services, day: str, *, is_open: bool) -> None:
    """A day of the stored calendar that turned out otherwise on Friday morning."""
    row = {"market": "CN", "date": day, "is_open": is_open, "corrected_on": NEXT, "is_confirmed": True}
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(
            Sql(services.engine).insert("ref_trade_calendar", list(row)), tuple(row.values())
        )
    services.calendar = services.calendar.corrected({day: is_open}, "2026-12-31")


@pytest.fixture
def with_calendar(services: Services) -> Services:
    build_metadata((REGISTRY.dataset("trade_calendar").table,)).create_all(services.engine)
    with transaction(services.engine) as connection:
        connection.exec_driver_sql("DELETE FROM ref_trade_calendar")
    return services


def test_after_a_day_that_was_closed_what_was_made_over_it_is_made_again_once(
    with_calendar: Services,
) -> None:
    """What was calculated on the next date took it for its previous trade date."""
    corrected(with_calendar, CLOSED_AFTER_ALL, is_open=False)

    assert look(with_calendar)["trade_calendar"] == [CLOSED_AFTER_ALL]
    look(with_calendar)

    assert asked(with_calendar) == [
        {"job": "corrected_days", "partition_range": [DAY, NEXT], "trigger": "catchup"}
    ]


def test_a_day_that_was_open_is_loaded_before_they_are(with_calendar: Services) -> None:
    corrected(with_calendar, OPEN_AFTER_ALL, is_open=True)
    look(with_calendar)
    assert [(one["job"], one["partition_range"]) for one in asked(with_calendar)] == [
        ("whole_day", [OPEN_AFTER_ALL, OPEN_AFTER_ALL])
    ]

    batch(with_calendar, "fusion_kline_daily", OPEN_AFTER_ALL, "16:00")

    assert look(with_calendar)["trade_calendar"] == [OPEN_AFTER_ALL]
    assert (asked(with_calendar)[-1]["job"], asked(with_calendar)[-1]["partition_range"]) == (
        "corrected_days",
        [OPEN_AFTER_ALL, NEXT],
    )


def test_a_day_to_come_concerns_the_bars_of_its_period(with_calendar: Services) -> None:
    corrected(with_calendar, "2026-08-31", is_open=False)

    assert look(with_calendar)["trade_calendar"] == ["2026-08-31"]
    assert asked(with_calendar)[-1]["partition_range"] == [NEXT, NEXT]
