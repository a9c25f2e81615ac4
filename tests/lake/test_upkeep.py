"""The checker sees every difference; upkeep deletes what no reader needs."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from core.clock import ManualClock
from resources.lake.checking import checked, content_hash
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.lake.reading import read_published
from resources.lake.upkeep import tidy
from resources.warehouse.warehouse import Warehouse
from tests.lake.conftest import BARS, HITS, MASTER, NEWS, TABLES
from tests.lake.test_publishing import bar, write
from tests.lake.test_reading import random_history


def statuses(warehouse: Warehouse, lake: Lake) -> dict[str, str]:
    return {one.month: one.status for one in checked(warehouse, lake, BARS)}


def test_what_was_published_is_the_same(warehouse: Warehouse, lake: Lake, clock: ManualClock) -> None:
    import random

    random_history(warehouse, clock, random.Random(9), 6)
    write(warehouse, HITS, [{"trade_date": "2026-08-03", "code": "600001", "score": 0.1}])
    for table in TABLES:
        Publisher(warehouse, lake).publish(table)
    found = [one for table in TABLES for one in checked(warehouse, lake, table)]

    assert {one.status for one in found} == {"same"}
    assert {one.table for one in found} == {BARS.name, HITS.name, NEWS.name, MASTER.name}
    assert sum(one.stored_rows for one in found) == sum(one.published_rows for one in found) > 100


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE fusion_bars SET close=close+0.0001 WHERE date='2026-07-01'",
        "UPDATE fusion_bars SET note=NULL WHERE date='2026-07-01'",
        "UPDATE fusion_bars SET batch_id='x' WHERE date='2026-07-01'",
        "DELETE FROM fusion_bars WHERE date='2026-07-01'",
        "DELETE FROM fusion_bars_history WHERE date='2026-07-01'",
    ],
)
def test_every_difference_is_found(warehouse: Warehouse, lake: Lake, clock: ManualClock, damage: str) -> None:
    write(warehouse, BARS, [bar("600001", day, 1.0) for day in ("2026-06-01", "2026-07-01", "2026-07-02")])
    clock.advance(timedelta(hours=1))
    write(warehouse, BARS, [bar("600001", "2026-07-01", 2.0)])
    Publisher(warehouse, lake).publish(BARS)
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql(damage)

    assert statuses(warehouse, lake) == {"2026-06": "same", "2026-07": "different"}


def test_a_month_that_changed_since_is_behind(warehouse: Warehouse, lake: Lake, clock: ManualClock) -> None:
    assert statuses(warehouse, lake) == {"": "not published"}
    write(warehouse, BARS, [bar("600001", day, 1.0) for day in ("2026-06-01", "2026-07-01")])
    Publisher(warehouse, lake).publish(BARS)
    clock.advance(timedelta(hours=1))
    write(warehouse, BARS, [bar("600001", "2026-07-01", 2.0)])
    assert statuses(warehouse, lake) == {"2026-06": "same", "2026-07": "behind"}


def test_the_hash_is_of_the_content_alone() -> None:
    whole = pa.table({"a": ["x", None, "yz"], "b": [1.0, 2.0, None]})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    shifted = pa.table({"a": ["xy", None, "z"], "b": [1.0, 2.0, None]})
    nulls = pa.table({"a": ["x", "yz", None], "b": [1.0, 2.0, None]})
    assert content_hash(whole) == content_hash(parts)
    assert len({content_hash(one) for one in (whole, shifted, nulls)}) == 3


def test_old_files_and_those_of_a_killed_process_are_deleted(
    warehouse: Warehouse, lake: Lake, clock: ManualClock
) -> None:
    write(warehouse, BARS, [bar("600001", "2026-07-01", 1.0)])
    publisher = Publisher(warehouse, lake)
    publisher.publish(BARS)
    folder = Path(lake.address(BARS.name))
    first = next(folder.rglob("*.parquet"))
    clock.advance(timedelta(hours=1))
    write(warehouse, BARS, [bar("600001", "2026-07-01", 2.0)])
    publisher.publish(BARS)
    orphan = first.with_name("part-00000-left-behind.parquet")
    orphan.write_bytes(first.read_bytes())
    young = first.with_name("part-00000-being-written.parquet")
    young.write_bytes(first.read_bytes())
    before = time.time() - 8 * 86400
    os.utime(orphan, (before, before))

    kept = tidy(lake, BARS.name)
    assert (orphan.exists(), young.exists(), first.exists()) == (False, True, True)
    assert kept.deleted == 1
    tidy(lake, BARS.name, kept_days=0)

    assert not first.exists()
    assert read_published(lake.table(BARS.name))["close"].to_pylist() == [2.0]
    assert statuses(warehouse, lake) == {"2026-07": "same"}
    assert publisher.publish(BARS).months == ()
