"""What is published is what the warehouse holds: exactly the months that changed, each in one commit."""

import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from core.clock import ManualClock
from core.declaration.tables import Table
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.lake.conftest import BARS, HITS, MASTER, NEWS


def write(
    warehouse: Warehouse,
    table: Table,
    rows: list[Mapping[str, Any]],
    *,
    replace: bool = False,
    where: Slice | None = None,
) -> str:
    """Store rows as one batch; its id."""
    frame = pd.DataFrame([{"src": "tdx", **row} for row in rows])
    batch = Batch(partition_key="x")
    pattern = ['{"close":"tdx"}' if row.get("code") == "600002" else None for row in rows]
    if table.has_history:
        frame["provenance"] = pattern
    warehouse.writer.write(table, frame, where=where or Slice(), batch=batch, replace=replace)
    return batch.batch_id


def bar(code: str, day: str, close: float | None) -> dict[str, Any]:
    return {"code": code, "date": day, "close": close, "volume": 7, "halted": close is None, "note": "停牌"}


def stored(lake: Lake, table: Table) -> pd.DataFrame:
    """The published rows as another reader of the format sees them."""
    return DeltaTable(lake.address(table.name)).to_pandas()


def commits(lake: Lake, table: Table) -> list[dict[str, Any]]:
    return [one for one in DeltaTable(lake.address(table.name)).history() if "batches" in one]


def test_a_first_publication_holds_every_row_with_its_types(warehouse: Warehouse, lake: Lake) -> None:
    write(warehouse, BARS, [bar("600001", "2026-07-31", 10.5), bar("600002", "2026-08-03", None)])

    done = Publisher(warehouse, lake).publish(BARS)
    table = lake.table(BARS.name)
    rows = stored(lake, BARS).sort_values("code")

    assert (done.months, done.rows, done.rebuilt) == (("2026-07", "2026-08"), 2, False)
    assert rows["date"].tolist() == [date(2026, 7, 31), date(2026, 8, 3)]
    assert rows["close"].tolist()[0] == 10.5
    assert rows["halted"].tolist() == [False, True]
    assert rows["valid_to"].tolist() == [datetime(9999, 12, 31)] * 2
    assert rows["provenance"].tolist()[1] == '{"close":"tdx"}'
    assert rows["is_current"].all()
    assert table.schema.field("close").metadata == {b"comment": b"", b"unit": b"CNY", b"type": b"px"}
    assert table.schema.field("date").type == pa.date32()
    assert table.schema.field("volume").type == pa.int64()


def test_files_are_sorted_compressed_and_have_statistics(warehouse: Warehouse, lake: Lake) -> None:
    days = [f"2026-08-{day:02d}" for day in range(1, 29)]
    write(warehouse, BARS, [bar(code, day, 1.0) for day in days for code in ("600002", "000001", "300001")])
    Publisher(warehouse, lake).publish(BARS)

    (file,) = lake.table(BARS.name).files
    parquet = pq.ParquetFile(f"{lake.address(BARS.name)}/{file.path}")
    found = parquet.read(columns=["code", "date"]).to_pylist()
    column = parquet.metadata.row_group(0).column(0)

    assert found == sorted(found, key=lambda row: (row["code"], row["date"]))
    assert (column.compression, column.statistics.min, column.statistics.max) == ("ZSTD", "000001", "600002")
    assert (file.month, file.is_current, file.rows) == ("2026-08", True, 84)


def test_only_months_that_changed_are_published_again(
    warehouse: Warehouse, lake: Lake, clock: ManualClock
) -> None:
    first = write(warehouse, BARS, [bar("600001", f"2026-0{month}-03", 1.0) for month in (5, 6, 7)])
    publisher = Publisher(warehouse, lake)
    publisher.publish(BARS)
    before = {file.month: file.path for file in lake.table(BARS.name).files}
    clock.advance(timedelta(hours=1))
    second = write(warehouse, BARS, [bar("600001", "2026-06-03", 2.0)])

    done = publisher.publish(BARS)
    again = publisher.publish(BARS)
    after = {file.month: file.path for file in lake.table(BARS.name).files if file.is_current}

    assert done.months == ("2026-06",)
    assert set(done.batches) == {first, second}
    assert (again.months, again.commits) == ((), 0)
    assert {month for month in before if before[month] != after[month]} == {"2026-06"}
    assert [json.loads(one["batches"]) for one in commits(lake, BARS)] == [sorted([first, second]), [first]]


def test_superseded_rows_carry_their_validity(warehouse: Warehouse, lake: Lake, clock: ManualClock) -> None:
    write(warehouse, BARS, [bar("600001", "2026-08-03", 1.0)])
    clock.advance(timedelta(hours=2))
    second = write(warehouse, BARS, [bar("600001", "2026-08-03", 2.0)])
    Publisher(warehouse, lake).publish(BARS)

    rows = stored(lake, BARS).sort_values("valid_from")

    assert rows["close"].tolist() == [1.0, 2.0]
    assert rows["is_current"].tolist() == [False, True]
    assert rows["valid_to"].tolist() == [datetime(2026, 8, 20, 18), datetime(9999, 12, 31)]
    assert rows["superseded_by"].tolist()[0] == second


def test_withdrawn_rows_leave_the_lake(warehouse: Warehouse, lake: Lake) -> None:
    day = Slice.of_date("trade_date", "2026-08-03")
    rows = [{"trade_date": "2026-08-03", "code": code, "score": 0.1} for code in ("600001", "600002")]
    write(warehouse, HITS, rows, where=day)
    publisher = Publisher(warehouse, lake)
    publisher.publish(HITS)
    withdrawn = write(warehouse, HITS, rows[:1], replace=True, where=day)

    done = publisher.publish(HITS)

    assert stored(lake, HITS)["code"].tolist() == ["600001"]
    assert withdrawn in done.batches


def test_a_row_whose_date_is_corrected_leaves_its_month(
    warehouse: Warehouse, lake: Lake, clock: ManualClock
) -> None:
    row = {"code": "600001", "title_key": "a", "pub_time": "2026-07-31 23:59:59", "title": "公告"}
    write(warehouse, NEWS, [row])
    publisher = Publisher(warehouse, lake)
    publisher.publish(NEWS)
    clock.advance(timedelta(hours=1))
    write(warehouse, NEWS, [{**row, "pub_time": "2026-08-01 00:00:00"}])

    done = publisher.publish(NEWS)
    rows = stored(lake, NEWS)

    assert done.months == ("2026-07", "2026-08")
    assert rows[rows["is_current"]]["month"].tolist() == ["2026-08"]
    assert rows[~rows["is_current"]]["month"].tolist() == ["2026-07"]


def test_a_dimension_is_published_whole(warehouse: Warehouse, lake: Lake, clock: ManualClock) -> None:
    write(warehouse, MASTER, [{"code": "600001", "name": "甲"}, {"code": "600002", "name": "乙"}])
    publisher = Publisher(warehouse, lake)
    publisher.publish(MASTER)
    clock.advance(timedelta(hours=1))
    write(warehouse, MASTER, [{"code": "600001", "name": "丙"}])
    publisher.publish(MASTER)

    rows = stored(lake, MASTER)

    assert sorted(rows[rows["is_current"]]["name"]) == ["丙", "乙"]
    assert rows[~rows["is_current"]]["name"].tolist() == ["甲"]
    assert lake.table(MASTER.name).partitions == ["is_current"]


def test_a_table_without_rows_is_published_empty(warehouse: Warehouse, lake: Lake) -> None:
    done = Publisher(warehouse, lake).publish(BARS)
    assert (done.rows, len(stored(lake, BARS))) == (0, 0)
    write(warehouse, BARS, [bar("600001", "2026-08-03", 1.0)])
    assert Publisher(warehouse, lake).publish(BARS).months == ("2026-08",)


def test_many_months_are_several_commits_that_name_their_months(
    warehouse: Warehouse, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.lake.publishing.ROWS_AT_ONCE", 2)
    write(warehouse, BARS, [bar("600001", f"2026-0{month}-03", 1.0) for month in range(1, 8)])

    done = Publisher(warehouse, lake).publish(BARS)

    assert (done.commits, len(stored(lake, BARS))) == (4, 7)
    assert [json.loads(one["months"]) for one in commits(lake, BARS)][-1] == ["2026-01", "2026-02"]


def test_a_publication_that_broke_off_goes_on_where_it_was(
    warehouse: Warehouse, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.lake.publishing.ROWS_AT_ONCE", 1)
    write(warehouse, BARS, [bar("600001", f"2026-0{month}-03", 1.0) for month in range(1, 5)])

    whole, commits_done = Publisher._commit, []

    def stop(self: Publisher, *given: Any) -> Any:
        if commits_done:
            raise RuntimeError("killed")
        commits_done.append(given)
        return whole(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_commit", stop)
        with pytest.raises(RuntimeError):
            Publisher(warehouse, lake).publish(BARS)
    write(warehouse, BARS, [bar("600001", "2026-01-03", 5.0)])
    done = Publisher(warehouse, lake).publish(BARS)
    rows = stored(lake, BARS)

    assert not done.rebuilt
    assert done.months == ("2026-01", "2026-02", "2026-03", "2026-04")
    assert rows[rows["is_current"]].sort_values("month")["close"].tolist() == [5.0, 1.0, 1.0, 1.0]


def test_the_lake_of_another_warehouse_is_made_again(
    warehouse: Warehouse, lake: Lake, clock: ManualClock
) -> None:
    write(warehouse, BARS, [bar("600001", "2026-08-03", 1.0), bar("600001", "2026-01-05", 1.0)])
    Publisher(warehouse, lake).publish(BARS)
    # A restored warehouse: the same number of versions, made by another batch.
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE sys_batch_month SET batch_id='0123456789abcdef0123456789abcdef'")
        connection.exec_driver_sql("DELETE FROM fusion_bars WHERE date<'2026-08-01'")

    done = Publisher(warehouse, lake).publish(BARS)

    assert done.rebuilt
    assert stored(lake, BARS)["month"].tolist() == ["2026-08"]


def test_a_change_of_unknown_months_publishes_all(warehouse: Warehouse, lake: Lake) -> None:
    write(warehouse, BARS, [bar("600001", "2026-08-03", 1.0), bar("600001", "2026-01-05", 1.0)])
    Publisher(warehouse, lake).publish(BARS)
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE table_version SET version=version+1 WHERE table_name='fusion_bars'"
        )

    assert Publisher(warehouse, lake).publish(BARS).months == ("2026-01", "2026-08")
    assert Publisher(warehouse, lake).publish(BARS).months == ()
