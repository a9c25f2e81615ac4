"""A panel of the lake is that of the warehouse, to the bit, however much of it is published."""

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from core.clock import ManualClock, stamp
from core.declaration.conditions import Condition, above, equal, known, not_set, one_of
from core.errors import InputError
from resources.lake.location import Lake
from resources.lake.panel import read_panel
from resources.lake.publishing import Publisher
from resources.warehouse import panel as warehouse_panel
from resources.warehouse.stored import ANY
from resources.warehouse.warehouse import Warehouse
from tests.lake.conftest import BARS, TABLES
from tests.lake.test_publishing import bar, write
from tests.lake.test_reading import CODES, DAYS, random_history

COLUMNS = ("close", "volume", "halted")
CONDITIONS: list[tuple[Condition, ...]] = [
    (),
    (equal("halted", 0),),
    (not_set("halted"), above("close", 1.5)),
    (one_of("date", DAYS[1:3]),),
    (one_of("date", ()),),
    (known("close"), equal("note", "停牌")),
]


@pytest.fixture
def warehouse(warehouse_url: str, clock: ManualClock, tmp_path: Path) -> Iterator[Warehouse]:
    opened = Warehouse(
        warehouse_url, TABLES, clock=clock, payload_folder=tmp_path, lake_url=tmp_path / "lake"
    )  # fmt: skip
    opened.migrate()
    yield opened
    opened.close()


def same(left: warehouse_panel.Panel, right: warehouse_panel.Panel) -> None:
    assert (left.codes, left.dates) == (right.codes, right.dates)
    assert list(left.values) == list(right.values)
    for name, values in left.values.items():
        np.testing.assert_array_equal(values, right[name])


@pytest.mark.parametrize("published", ["all", "some months", "nothing"])
def test_the_panel_is_the_warehouses(
    warehouse: Warehouse, lake: Lake, clock: ManualClock, published: str
) -> None:
    chance = random.Random(5)
    random_history(warehouse, clock, chance, 6)
    if published != "nothing":
        Publisher(warehouse, lake).publish(BARS)
    if published == "some months":
        clock.advance(timedelta(hours=1))
        write(warehouse, BARS, [bar(code, "2026-06-30", 3.0) for code in (*CODES[:5], "000001")])
    for conditions in CONDITIONS:
        for since, until in ((DAYS[0], DAYS[-1]), ("2026-06-02", "2026-07-15"), ("2020-01-01", "2020-02-01")):
            window = {"since": since, "until": until, "conditions": conditions}
            own = warehouse_panel.read_panel(warehouse, BARS.name, COLUMNS, **window)
            same(read_panel(warehouse, BARS.name, COLUMNS, **window), own)


@pytest.mark.parametrize("published", [True, False])
def test_the_panel_of_an_instant_is_that_of_the_rows(
    warehouse: Warehouse, lake: Lake, clock: ManualClock, published: bool
) -> None:
    began = clock.now()
    random_history(warehouse, clock, random.Random(6), 8)
    if published:
        Publisher(warehouse, lake).publish(BARS)
    clock.advance(timedelta(hours=1))
    write(warehouse, BARS, [bar(code, "2026-06-30", 3.0) for code in CODES[:5]])
    for share in (0.3, 0.7, 1.0):
        instant = stamp(began + (clock.now() - began) * share)
        of, columns = [ANY.date >= DAYS[1], ANY.halted == 0], ("code", "date", "close")
        rows = warehouse.rows(BARS.name, *of, columns=columns, as_of=instant)
        expected = {(row["code"], row["date"]): row["close"] for row in rows}

        panel = read_panel(
            warehouse,
            BARS.name,
            ("close",),
            since=DAYS[1],
            until=DAYS[-1],
            conditions=(equal("halted", 0),),
            as_of=instant,
        )

        found = {
            (code, day): panel["close"][row, column]
            for row, code in enumerate(panel.codes)
            for column, day in enumerate(panel.dates)
            if np.isfinite(panel["close"][row, column])
        }
        assert expected
        assert found == expected


def test_a_current_month_is_read_from_the_lake(warehouse: Warehouse, lake: Lake) -> None:
    write(warehouse, BARS, [bar("600001", day, 1.0) for day in DAYS])
    Publisher(warehouse, lake).publish(BARS)
    with warehouse.engine.begin() as connection:  # what only the lake still has
        connection.exec_driver_sql("UPDATE fusion_bars SET close=9")

    assert read_panel(warehouse, BARS.name, ("close",), since=DAYS[0], until=DAYS[-1])["close"].max() == 1.0


def test_a_lake_that_cannot_be_read_is_done_without(
    warehouse: Warehouse, lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    write(warehouse, BARS, [bar("600001", day, 1.0) for day in DAYS])
    Publisher(warehouse, lake).publish(BARS)
    for path in Path(lake.url).rglob("*.parquet"):
        path.write_bytes(b"PAR1 and nothing else")

    panel = read_panel(warehouse, BARS.name, ("close",), since=DAYS[0], until=DAYS[-1])

    assert panel["close"].tolist() == [[1.0] * len(DAYS)]
    assert "is read from the warehouse" in caplog.text


def test_an_instant_needs_a_table_with_versions(warehouse: Warehouse) -> None:
    with pytest.raises(InputError, match="holds no numbers"):
        read_panel(warehouse, BARS.name, ("note",), since=DAYS[0], until=DAYS[0])
    with pytest.raises(InputError, match="no series"):
        read_panel(warehouse, "calc_hits", ("score",), since=DAYS[0], until=DAYS[0])
