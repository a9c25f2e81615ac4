"""The table of daily bars in a warehouse of the benchmark's own, and plain twins of it to compare with."""

import csv
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa
from sqlalchemy import event

from core.clock import FrozenClock
from core.declaration.frames import coerce, rows
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.ddl import build_table
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writer import MAX_ROWS, Piece, WriteResult
from tests.benchmarks.panel_data import CODES
from tests.conftest import listens
from tests.databases import MARIADB_URL, own_mariadb

BARS: Table = builtin_registry().dataset("kline_daily").table
TOGETHER = MAX_ROWS // CODES
"""Dates that a range writes in one transaction."""
STAMP = "2026-08-21 16:00:00.000000"


def open_store(url: str, folder: Path) -> Warehouse:
    """A migrated warehouse with all declared tables."""
    made = Warehouse(
        url,
        builtin_registry().tables,
        clock=FrozenClock(datetime(2026, 8, 21, 16)),
        payload_folder=folder / "payloads",
        lake_url=folder / "lake",
    )
    made.migrate()
    return made


@contextmanager
def mariadb_database() -> Iterator[str | None]:
    """URL of a database of our own, or None when no server answers."""
    if not listens(MARIADB_URL):
        yield None
        return
    with own_mariadb("bench") as url:
        yield url


def write_day(warehouse: Warehouse, day: str, frame: pd.DataFrame, trigger: str = "manual") -> WriteResult:
    """The product's write of one date; by the trigger of a schedule, what batches say of it is taken."""
    return warehouse.writer.write(
        BARS,
        frame,
        where=Slice.of_date("date", day),
        batch=Batch(partition_key=day, fusion_type="kline_daily", domain="kline", trigger=trigger),
        public_at=[f"{day} 15:00:00.000000"] * len(frame),
        source_rank={"tdx": 0},
    )


def write_days(warehouse: Warehouse, days: Sequence[tuple[str, pd.DataFrame]]) -> list[WriteResult]:
    """The product's write of a part of a range: a batch per date, one transaction."""
    pieces = [
        Piece(
            frame,
            Slice.of_date("date", day),
            Batch(partition_key=day, fusion_type="kline_daily", domain="kline"),
            public_at=[f"{day} 15:00:00.000000"] * len(frame),
        )
        for day, frame in days
    ]
    return warehouse.writer.write_all(BARS, pieces, source_rank={"tdx": 0})


class Twin:
    """A table of the same columns, key and index without versions: what a plain pipeline would write."""

    def __init__(self, warehouse: Warehouse, name: str) -> None:
        self.engine = warehouse.engine
        self.name = name
        self._sql = warehouse.sql
        metadata = sa.MetaData()
        self.table = build_table(metadata, BARS)
        self.table.name = name
        for index in self.table.indexes:
            index.name = f"{index.name}_{name}"
        self.table.create(self.engine)

    def tuples(self, frame: pd.DataFrame) -> list[tuple[object, ...]]:
        """Rows of the driver, audit columns filled as the product fills them."""
        filled = frame.assign(batch_id="b" * 32, valid_from=STAMP, created_at=STAMP, updated_at=STAMP)
        return sorted(rows(coerce(filled, BARS.all_columns)[0], BARS.names), key=lambda row: row[:2])

    def upsert(self, frame: pd.DataFrame) -> None:
        """Plain upsert by executemany, one transaction, no revisions."""
        with self.engine.begin() as connection:
            connection.exec_driver_sql(self._sql.upsert(self.name, BARS.names, BARS.key), self.tuples(frame))

    def insert(self, values: list[tuple[object, ...]]) -> None:
        """Raw insert of prepared rows."""
        with self.engine.begin() as connection:
            connection.exec_driver_sql(self._sql.insert(self.name, BARS.names), values)

    def to_sql(self, frame: pd.DataFrame) -> None:
        """pandas' own way."""
        filled = frame.assign(batch_id="b" * 32, valid_from=STAMP, created_at=STAMP, updated_at=STAMP)
        with self.engine.begin() as connection:
            filled.to_sql(self.name, connection, if_exists="append", index=False)


def write_load_file(path: Path, values: Sequence[tuple[object, ...]]) -> None:
    """Rows as LOAD DATA reads them; the rows hold no tab, newline or backslash."""
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None)
        for row in values:
            writer.writerow(["\\N" if value is None else value for value in row])


def load_client(url: sa.URL) -> Any:
    """A MariaDB client that may send files."""
    import pymysql

    return pymysql.connect(
        host=url.host or "127.0.0.1", port=url.port or 3306, user=url.username or "root",
        password=url.password or "", database=url.database, local_infile=True, charset="utf8mb4",
    )  # fmt: skip


def load(client: Any, path: Path, table: str) -> None:
    with client.cursor() as cursor:
        cursor.execute(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} CHARACTER SET utf8mb4")
    client.commit()


def share_in_driver(warehouse: Warehouse, work: Callable[[], object]) -> float:
    """Share of a piece of work that is spent in the driver's execute calls (SQL of the database itself)."""
    inside = 0.0
    began = 0.0

    def before(*_: object, **__: object) -> None:
        nonlocal began
        began = time.perf_counter()

    def after(*_: object, **__: object) -> None:
        nonlocal inside
        inside += time.perf_counter() - began

    event.listen(warehouse.engine, "before_cursor_execute", before)
    event.listen(warehouse.engine, "after_cursor_execute", after)
    started = time.perf_counter()
    work()
    whole = time.perf_counter() - started
    event.remove(warehouse.engine, "before_cursor_execute", before)
    event.remove(warehouse.engine, "after_cursor_execute", after)
    return inside / whole
