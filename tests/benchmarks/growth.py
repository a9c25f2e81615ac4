"""How the warehouse grows: 1, 4 and 10 years of the market's bars, one after the other (BENCH_YEARS; ten
years are 13 million rows). The baseline of each figure is the same work after the first 24 dates.
BENCH_ENGINES=SQLite,MariaDB asks for MariaDB as well.

What the audit columns cost is measured on copies of the same rows.
"""

import os
import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pandas as pd

from core.declaration.tables import AUDIT, Layer
from resources.warehouse.stored import ANY
from resources.warehouse.warehouse import Warehouse
from tests.benchmarks.measure import MIB, Figure, at_most, timed
from tests.benchmarks.panel_data import CODES, day_frames, trade_dates
from tests.benchmarks.store import BARS, TOGETHER, mariadb_database, open_store, write_day, write_days

YEAR = 243
SAMPLES = 3
FIRST = YEAR // 10
COPIED_DATES = 20
Days = Iterator[tuple[str, pd.DataFrame]]


def years() -> list[int]:
    """BENCH_YEARS as numbers, ascending."""
    return sorted({int(part) for part in os.environ.get("BENCH_YEARS", "1,4,10").split(",")})


def engines() -> list[str]:
    """BENCH_ENGINES; MariaDB as well only when it is asked for."""
    return os.environ.get("BENCH_ENGINES", "SQLite").split(",")


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "SQLite" in engines():
            file = folder / "warehouse.sqlite3"
            warehouse = open_store(f"sqlite:///{file}", folder)
            yield from _growing("SQLite", warehouse, lambda: _file_bytes(file))
            warehouse.close()
            yield from _audit_columns(file, folder / "copies.sqlite3")
        if "MariaDB" in engines():
            with mariadb_database() as url:
                if url is not None:
                    warehouse = open_store(url, folder)
                    yield from _growing("MariaDB", warehouse, lambda: _server_bytes(warehouse))
                    warehouse.close()


def _growing(engine: str, warehouse: Warehouse, size: Callable[[], int]) -> Iterator[Figure]:
    targets = [year * YEAR for year in years()]
    days = day_frames(trade_dates(targets[-1] + SAMPLES * (len(targets) + 1)))
    stored = _fill(warehouse, days, FIRST)
    at_first = _measured(warehouse, days)
    stored += SAMPLES
    for number, year in zip(targets, years(), strict=True):
        stored += _fill(warehouse, days, number - stored)
        now = _measured(warehouse, days)
        rows = number * CODES
        what = f"{engine}: {year} years of {CODES} codes"
        used = size()
        yield Figure(
            f"{what}, size", f"{used / MIB:.0f} MiB", f"{rows:,} rows", used / rows, note="ratio: bytes a row"
        )
        for name, seconds in now.items():
            yield at_most(f"{what}, {name}, vs {FIRST} dates", seconds, at_first[name], None)
        stored += SAMPLES


def _fill(warehouse: Warehouse, days: Days, count: int) -> int:
    left = count
    while left > 0:
        chunk = list(islice(days, min(TOGETHER, left)))
        write_days(warehouse, chunk)
        left -= len(chunk)
    return count


def _measured(warehouse: Warehouse, days: Days) -> dict[str, float]:
    """Median seconds; `SAMPLES` dates are stored afterwards that were not before."""
    fresh = list(islice(days, SAMPLES))
    codes = [str(frame.code.iloc[CODES // 2 + at]) for at, (_, frame) in enumerate(fresh)]
    last = fresh[-1][0]
    works: dict[str, list[Callable[[], object]]] = {
        "new day": [lambda day=day: write_day(warehouse, *day) for day in fresh],  # type: ignore[misc]
        "unchanged day": [lambda day=day: write_day(warehouse, *day) for day in fresh],  # type: ignore[misc]
        "120 bars of a code": [lambda code=code: _bars(warehouse, code) for code in codes],  # type: ignore[misc]
        "all codes of a date": [lambda: _of_date(warehouse, last) for _ in fresh],
        "what /datamgr/stats reads": [warehouse.versions for _ in fresh],
    }
    return {name: statistics.median([timed(work) for work in each]) for name, each in works.items()}


def _bars(warehouse: Warehouse, code: str) -> object:
    return warehouse.rows(BARS.name, ANY.code == code, order=[ANY.date.desc()], limit=120)


def _of_date(warehouse: Warehouse, day: str) -> object:
    return warehouse.query(f"SELECT code, close, volume FROM {BARS.name} WHERE date=?", (day,))


def _file_bytes(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


def _server_bytes(warehouse: Warehouse) -> int:
    warehouse.query(f"ANALYZE TABLE {BARS.name}")
    found = warehouse.query(
        "SELECT SUM(data_length + index_length) FROM information_schema.tables "
        "WHERE table_schema=DATABASE() AND table_name=?",
        (BARS.name,),
    )
    return int(found[0][0])


def _audit_columns(file: Path, copies: Path) -> Iterator[Figure]:
    """Bytes a row of the same rows with their audit columns, without, and with numbers in their place."""
    audit = {spec.name for spec in AUDIT[Layer.DWD]}
    content = [name for name in BARS.names if name not in audit]
    seconds = "CAST(strftime('%s', {0}) AS INTEGER) AS {0}"
    numbered = [
        *content, "1 AS src", "provenance", "1 AS quality", "quality_flags", "1 AS batch_id",
        *(seconds.format(name) for name in ("valid_from", "created_at", "updated_at")),
    ]  # fmt: skip
    integers = [
        "CAST(code AS INTEGER) AS code", "CAST(replace(date, '-', '') AS INTEGER) AS date", *numbered[2:]
    ]  # fmt: skip
    whole = _bytes_a_row(file, copies, list(BARS.names))
    for what, columns in {
        "without audit columns": content,
        "with numbers for sources, batches and times": numbered,
        "with numbers for code and date as well": integers,
    }.items():
        each = _bytes_a_row(file, copies, columns)
        yield Figure(
            f"SQLite: a row of bars {what}, vs as it is", f"{each:.0f} B", f"{whole:.0f} B", each / whole,
            at_most=True, note=f"{COPIED_DATES} dates, clustered by code, index on the date",
        )  # fmt: skip


def _bytes_a_row(file: Path, copies: Path, columns: list[str]) -> float:
    names = [column.rsplit(" ", 1)[-1] for column in columns]
    copies.unlink(missing_ok=True)
    with closing(sqlite3.connect(copies, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size=8192")
        connection.execute("ATTACH ? AS stored", (str(file),))
        connection.execute(f"CREATE TABLE copy ({', '.join(names)}, PRIMARY KEY (code, date)) WITHOUT ROWID")
        dates = f"SELECT DISTINCT date FROM stored.{BARS.name} ORDER BY date DESC LIMIT ?"
        (since,) = connection.execute(f"SELECT min(date) FROM ({dates})", (COPIED_DATES,)).fetchone()
        connection.execute(
            f"INSERT INTO copy SELECT {', '.join(columns)} FROM stored.{BARS.name} WHERE date>=? "
            "ORDER BY 1, 2",
            (since,),
        )
        connection.execute("CREATE INDEX ix_copy_date ON copy (date)")
        (rows,) = connection.execute("SELECT count(*) FROM copy").fetchone()
    return copies.stat().st_size / int(rows)
