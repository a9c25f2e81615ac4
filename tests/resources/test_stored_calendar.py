"""The calendar of a process follows the stored one without a restart, and without a database it goes on."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from platform_assets.definitions import partitions
from resources import stored_calendar as module
from resources.composition import open_warehouse
from resources.settings import Settings, load_settings
from resources.stored_calendar import StoredCalendar, stored_calendar
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse

CLOSED, OPEN = "2027-02-04", "2027-02-08"
"""Of a year that the rules see the other way round."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")


@pytest.fixture
def warehouse(settings: Settings) -> Iterator[Warehouse]:
    opened = open_warehouse(settings, builtin_registry(), FrozenClock(datetime(2026, 11, 9, 8, 15)))
    opened.migrate()
    yield opened
    opened.close()


def publish(warehouse: Warehouse, year: int, **states: bool) -> None:
    """A whole year as published: weekdays open but for `states` (MMDD)."""
    days = pd.date_range(f"{year}-01-01", f"{year}-12-31")
    rows = [
        {
            "market": "CN",
            "date": str(day)[:10],
            "is_open": states.get(f"d{day:%m%d}", day.dayofweek < 5),
            "is_confirmed": True,
        }
        for day in days
    ]
    table = warehouse.table("ref_trade_calendar")
    warehouse.writer.write(table, pd.DataFrame(rows), where=Slice(), batch=Batch(partition_key=f"{year}"))


def test_it_is_the_shipped_one_until_there_is_a_table(settings: Settings, tmp_path: Path) -> None:
    calendar = StoredCalendar(settings.warehouse_address).look()

    assert (calendar.is_trade_date(CLOSED), calendar.is_confirmed(CLOSED)) == (True, False)
    assert not (tmp_path / "warehouse.sqlite3").exists()


def test_it_follows_the_table_without_a_restart(
    settings: Settings, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.05)
    calendar = StoredCalendar(settings.warehouse_address).look()
    run = calendar.fixed()
    assert calendar.is_trade_date(CLOSED)

    publish(warehouse, 2027, d0204=False)

    ends = time.monotonic() + 20
    while calendar.is_trade_date(CLOSED) and time.monotonic() < ends:
        time.sleep(0.05)
    assert not calendar.is_trade_date(CLOSED)
    assert calendar.is_trade_date(OPEN)
    assert (calendar.confirmed_until, calendar.is_confirmed("2028-01-03")) == ("2027-12-31", False)
    assert calendar.offset("2027-02-03", 1) == "2027-02-05"
    # A run keeps the calendar that it began with.
    assert run.is_trade_date(CLOSED)


def test_partitions_are_the_stored_trade_dates(
    settings: Settings, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.0)
    monkeypatch.setattr(partitions, "_stored", lambda: stored_calendar(settings))
    monkeypatch.setattr(partitions, "_today", lambda: "2027-02-09")
    definition = partitions.TradeDates(["2027-02-03"])
    assert definition.get_partition_keys()[-3:] == ["2027-02-02", "2027-02-03", "2027-02-04"]

    publish(warehouse, 2027, d0204=False)

    assert definition.get_partition_keys()[-4:] == ["2027-02-03", "2027-02-05", "2027-02-08", "2027-02-09"]
