"""A read through the lake is the warehouse's own answer, however much of it is published."""

import random
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from core.clock import ManualClock, stamp
from core.declaration.tables import Table
from core.errors import InputError, NotFound
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.lake.reading import LakeReader, months_between, read_published
from resources.warehouse.stored import ANY, Where
from resources.warehouse.warehouse import Warehouse
from tests.lake.conftest import BARS, HITS, MASTER, NEWS
from tests.lake.test_publishing import bar, write

CODES = [f"6{number:05d}" for number in range(120)]
TIMES = ("00:00:00", "23:59:59")
DAYS = ("2026-05-29", "2026-06-01", "2026-06-30", "2026-07-01", "2026-07-31", "2026-08-03")


def random_history(warehouse: Warehouse, clock: ManualClock, chance: random.Random, batches: int) -> None:
    """Batches that add, correct and repeat rows of every table."""
    for _ in range(batches):
        clock.advance(timedelta(hours=chance.randint(1, 30)))
        codes = chance.sample(CODES, 40)
        write(
            warehouse, BARS,
            [bar(code, chance.choice(DAYS), chance.choice([1.0, 2.0, None])) for code in codes],
        )  # fmt: skip
        write(
            warehouse, NEWS,
            [{"code": code, "title_key": "a", "title": chance.choice("甲乙"),
              "pub_time": f"{chance.choice(DAYS)} {chance.choice(TIMES)}"} for code in codes[:9]],
        )  # fmt: skip
        write(warehouse, MASTER, [{"code": code, "name": chance.choice("丙丁")} for code in codes[:9]])


def answer(warehouse: Warehouse, table: Table, as_of: str | None, *where: Where) -> list[tuple[Any, ...]]:
    """The warehouse's own rows, in the order of the key, without provenance."""
    names = [name for name in table.names if name != "provenance"]
    rows = warehouse.rows(table.name, *where, columns=names, as_of=as_of, order=table.key)
    return [tuple(row[name] for name in names) for row in rows]


def read(rows: pa.Table, table: Table) -> list[tuple[Any, ...]]:
    """The lake's rows in the warehouse's own notation."""

    def plain(name: str, value: Any) -> Any:
        family = table.column(name).family
        if value is None or family not in ("date", "time"):
            return value
        if family == "date":
            return value.isoformat()
        return stamp(value) if table.column(name).sql == "ts" else stamp(value)[:19]

    names = [name for name in table.names if name != "provenance"]
    return [tuple(plain(name, row[name]) for name in names) for row in rows.select(names).to_pylist()]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_instant_of_every_table_reads_as_the_warehouse_answers(
    warehouse: Warehouse, lake: Lake, clock: ManualClock, seed: int
) -> None:
    chance = random.Random(seed)
    began = clock.now()
    publisher, reader = Publisher(warehouse, lake), LakeReader(warehouse, lake)
    for step in range(4):
        random_history(warehouse, clock, chance, 4)
        if step < 3:
            for table in (BARS, NEWS, MASTER):
                publisher.publish(table)
        # After the last step the lake is behind, and the warehouse completes it.
        for table in (BARS, NEWS, MASTER):
            instants = [None, *(stamp(began + (clock.now() - began) * chance.random()) for _ in range(3))]
            for instant in instants:
                expected = answer(warehouse, table, instant)
                assert read(reader.read(table.name, as_of=instant), table) == expected
                if step < 3:
                    assert read(read_published(lake.table(table.name), as_of=instant), table) == expected


def test_windows_and_codes(warehouse: Warehouse, lake: Lake, clock: ManualClock) -> None:
    random_history(warehouse, clock, random.Random(3), 6)
    for table in (BARS, NEWS):
        Publisher(warehouse, lake).publish(table)
    reader = LakeReader(warehouse, lake)
    for table in (BARS, NEWS):
        column = str(table.date_column)
        own = answer(warehouse, table, None, ANY[column] >= "2026-06-30", ANY[column] < "2026-08-01")
        window = {"since": "2026-06-30", "until": "2026-07-31"}
        assert own
        assert read(reader.read(table.name, **window), table) == own
        assert read(read_published(lake.table(table.name), **window), table) == own
        for codes in (CODES[:3], CODES[:70]):
            chosen = [row for row in own if row[0] in codes]
            assert read(reader.read(table.name, codes=codes, **window), table) == chosen
            assert read(read_published(lake.table(table.name), codes=codes, **window), table) == chosen


def test_a_month_that_is_behind_is_read_from_the_warehouse(
    warehouse: Warehouse, lake: Lake, clock: ManualClock
) -> None:
    write(warehouse, BARS, [bar("600001", day, 1.0) for day in DAYS])
    Publisher(warehouse, lake).publish(BARS)
    clock.advance(timedelta(hours=1))
    write(warehouse, BARS, [bar("600001", "2026-06-30", 2.0)])
    with warehouse.engine.begin() as connection:  # what the lake alone must answer for
        connection.exec_driver_sql("UPDATE fusion_bars SET close=9 WHERE date='2026-05-29'")

    found = LakeReader(warehouse, lake).read("fusion_bars", columns=["date", "close"]).to_pylist()

    assert [row["close"] for row in found] == [1.0, 1.0, 2.0, 1.0, 1.0, 1.0]


def test_without_a_lake_or_with_the_lake_of_another_warehouse_the_warehouse_answers(
    warehouse: Warehouse, lake: Lake
) -> None:
    write(warehouse, BARS, [bar("600001", day, 1.0) for day in DAYS])
    reader = LakeReader(warehouse, lake)
    assert len(reader.read("fusion_bars")) == len(DAYS)
    Publisher(warehouse, lake).publish(BARS)
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE sys_batch_month SET batch_id='0123456789abcdef0123456789abcdef'")
        connection.exec_driver_sql("UPDATE fusion_bars SET close=9")

    assert set(reader.read("fusion_bars")["close"].to_pylist()) == {9.0}


def test_a_snapshot_does_not_change_while_others_publish(warehouse: Warehouse, lake: Lake) -> None:
    write(warehouse, BARS, [bar("600001", "2026-08-03", 1.0)])
    Publisher(warehouse, lake).publish(BARS)
    opened = lake.table("fusion_bars")
    write(warehouse, BARS, [bar("600002", "2026-08-03", 1.0)])
    Publisher(warehouse, Lake(lake.url)).publish(BARS)

    assert (len(read_published(opened)), len(read_published(lake.table("fusion_bars")))) == (1, 2)


def test_wrong_arguments_are_named(warehouse: Warehouse, lake: Lake) -> None:
    Publisher(warehouse, lake).publish(HITS)
    Publisher(warehouse, lake).publish(MASTER)
    reader, hits, master = LakeReader(warehouse, lake), lake.table("calc_hits"), lake.table("fusion_master")
    with pytest.raises(InputError, match="as_of: calc_hits keeps no versions"):
        read_published(hits, as_of="2026-08-01")
    with pytest.raises(InputError, match="as_of: calc_hits keeps no versions"):
        reader.read("calc_hits", as_of="2026-08-01")
    with pytest.raises(InputError, match="as_of: 'soon' is no ISO date-time"):
        read_published(master, as_of="soon")
    with pytest.raises(InputError, match="columns: 'price' is none of trade_date, code, score"):
        read_published(hits, columns=["price"])
    with pytest.raises(InputError, match="columns: 'price' is none of trade_date, code, score"):
        reader.read("calc_hits", columns=["price"])
    with pytest.raises(InputError, match="since: fusion_master has no dates"):
        read_published(master, since="2026-08-01")
    with pytest.raises(NotFound, match="fusion_bars is not published"):
        lake.table("fusion_bars")
    for address, why in (
        ("gs://bucket/x", "gs:// is no"),
        ("s3:///x", "no s3"),
        ("s3://a:b@c/x", "credentials"),
    ):
        with pytest.raises(InputError, match=why):
            Lake(address)


def test_months_between() -> None:
    assert months_between("2025-11-30", "2026-02-01") == ["2025-11", "2025-12", "2026-01", "2026-02"]


def test_an_instant_may_be_a_datetime(warehouse: Warehouse, lake: Lake) -> None:
    write(warehouse, MASTER, [{"code": "600001", "name": "甲"}])
    Publisher(warehouse, lake).publish(MASTER)
    opened = lake.table("fusion_master")
    assert len(read_published(opened, as_of=datetime(2026, 8, 20, 16))) == 1
    assert len(read_published(opened, as_of=datetime(2026, 8, 20, 15, 59))) == 0
