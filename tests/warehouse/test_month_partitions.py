"""Months as partitions on MariaDB: what is put apart, that rows go where they belong, and that SQLite and a
table without partitions are left alone."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from core.clock import ManualClock
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.conftest import listens
from tests.databases import MARIADB_URL, own_mariadb
from tests.warehouse.conftest import BARS, bars

TABLES = ("fusion_bars", "fusion_bars_history")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 8, 21, 16))


@pytest.fixture
def warehouse(clock: ManualClock, tmp_path: Path) -> Iterator[Warehouse]:
    if not listens(MARIADB_URL):
        pytest.skip("MariaDB (TEST_MARIADB_URL)")
    with own_mariadb("months") as url:
        opened = Warehouse(url, (BARS,), clock=clock, payload_folder=tmp_path)
        opened.migrate()
        yield opened
        opened.close()


def partitions(warehouse: Warehouse, table: str = "fusion_bars") -> dict[str, int]:
    """Partition -> rows, by a count of each."""
    found = warehouse.query(
        "SELECT partition_name FROM information_schema.partitions WHERE table_schema=DATABASE() AND "
        "table_name=? AND partition_name IS NOT NULL ORDER BY partition_ordinal_position",
        (table,),
    )
    return {
        name: warehouse.query(f"SELECT COUNT(*) FROM {table} PARTITION ({name})")[0][0] for (name,) in found
    }


def write(warehouse: Warehouse, day: str, close: float) -> None:
    warehouse.writer.write(
        BARS,
        bars(c600000=close, c600001=close).assign(date=day),
        where=Slice.of_date("date", day),
        batch=Batch(partition_key=day),
    )


def test_a_new_table_and_its_history_have_the_months_around_now_apart(warehouse: Warehouse) -> None:
    for table in TABLES:
        assert list(partitions(warehouse, table)) == [
            "p_before", "m202607", "m202608", "m202609", "m202610", "p_after"
        ]  # fmt: skip


def test_rows_and_their_earlier_versions_lie_in_their_month_and_are_read_as_one_table(
    warehouse: Warehouse,
) -> None:
    for day in ("2019-03-01", "2026-07-31", "2026-08-03", "2027-01-04"):
        write(warehouse, day, 10.0)
    write(warehouse, "2026-08-03", 11.0)

    assert partitions(warehouse) == {
        "p_before": 2, "m202607": 2, "m202608": 2, "m202609": 0, "m202610": 0, "p_after": 2
    }  # fmt: skip
    assert partitions(warehouse, "fusion_bars_history")["m202608"] == 2
    read = warehouse.frame("fusion_bars", columns=["code", "date", "close"], where=Slice.of_codes(["600000"]))
    assert sorted(zip(read["date"], read["close"], strict=True)) == [
        ("2019-03-01", 10.0), ("2026-07-31", 10.0), ("2026-08-03", 11.0), ("2027-01-04", 10.0)
    ]  # fmt: skip


def test_later_months_are_put_apart_also_when_rows_came_before_them(
    warehouse: Warehouse, clock: ManualClock
) -> None:
    write(warehouse, "2026-12-01", 10.0)
    clock.at = datetime(2026, 11, 30)

    made = warehouse.divide()

    assert made == [f"{table}:m{month}" for table in TABLES for month in (202611, 202612, 202701)]
    assert partitions(warehouse)["m202612"] == 2
    assert partitions(warehouse)["p_after"] == 0
    assert warehouse.divide() == []


def test_the_months_of_an_older_year_become_one_partition_and_no_row_is_lost(
    warehouse: Warehouse, clock: ManualClock
) -> None:
    for day in ("2026-06-01", "2026-07-01", "2026-12-31", "2027-01-04"):
        write(warehouse, day, 10.0)
    clock.at = datetime(2028, 2, 1)

    warehouse.divide()

    held = partitions(warehouse)
    assert list(held)[:3] == ["p_before", "y2026", "m202701"]
    assert list(held)[-2:] == ["m202804", "p_after"]
    assert (held["p_before"], held["y2026"], held["m202701"]) == (2, 4, 2)
    write(warehouse, "2026-12-31", 12.0)
    assert partitions(warehouse)["y2026"] == 4


def test_a_table_that_was_made_without_partitions_works_as_before(
    warehouse: Warehouse, clock: ManualClock
) -> None:
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE fusion_bars REMOVE PARTITIONING")
    clock.at = datetime(2026, 11, 30)

    made = warehouse.divide()
    write(warehouse, "2026-11-30", 10.0)

    assert made == [f"fusion_bars_history:m{month}" for month in (202611, 202612, 202701)]
    assert warehouse.query("SELECT COUNT(*) FROM fusion_bars") == [(2,)]


def test_sqlite_has_no_partitions(clock: ManualClock, tmp_path: Path) -> None:
    opened = Warehouse(f"sqlite:///{tmp_path}/w.sqlite3", (BARS,), clock=clock, payload_folder=tmp_path)
    opened.migrate()
    try:
        assert opened.divide() == []
        write(opened, "2026-08-03", 10.0)
        assert opened.query("SELECT COUNT(*) FROM fusion_bars") == [(2,)]
    finally:
        opened.close()
