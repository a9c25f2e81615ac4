"""Reading 250 dates of the whole market: dense panel from the lake and from the warehouse, and frame of the
product, beside pandas.read_sql and beside PyArrow on the same Parquet files."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import sqlalchemy as sa

from resources.lake.location import lake_of
from resources.lake.panel import read_panel as read_lake_panel
from resources.lake.publishing import Publisher
from resources.warehouse.panel import read_panel
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.benchmarks.measure import MIB, Figure, PeakMemory, at_most, faster, seconds
from tests.benchmarks.panel_data import CODES, day_frames, trade_dates
from tests.benchmarks.store import (
    BARS,
    Twin,
    load,
    load_client,
    mariadb_database,
    open_store,
    write_load_file,
)

DATES = 250
SAMPLES = 3
COLUMNS = ("open", "high", "low", "close", "volume", "amount")


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from engine_figures("SQLite", f"sqlite:///{folder}/warehouse.sqlite3", Path(folder))
    # A folder of its own, so that its lake is published from it.
    with tempfile.TemporaryDirectory() as folder, mariadb_database() as url:
        if url is not None:
            yield from engine_figures("MariaDB", url, Path(folder))


def fill(warehouse: Warehouse, folder: Path, dates: int = DATES) -> list[str]:
    """Stored bars by the fastest way there is: how they came is not what is measured here."""
    days = trade_dates(dates)
    shape = Twin(warehouse, "shape")
    values = [row for _, frame in day_frames(days) for row in shape.tuples(frame)]
    values.sort(key=lambda row: row[:2])
    if warehouse.sqlite:
        with warehouse.engine.begin() as connection:
            connection.exec_driver_sql(warehouse.sql.insert(BARS.name, BARS.names), values)
    else:
        path = folder / "panel.tsv"
        write_load_file(path, values)
        client = load_client(warehouse.engine.url)
        load(client, path, BARS.name)
        client.close()
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            warehouse.sql.text(
                "UPDATE table_version SET version=1, row_count=?, updated_at='2026-08-21 16:00:00.000000', "
                "latest_date=? WHERE table_name=?"
            ),
            (len(values), days[-1], BARS.name),
        )
    return days


def engine_figures(engine: str, url: str, folder: Path) -> Iterator[Figure]:
    warehouse = open_store(url, folder)
    days = fill(warehouse, folder)
    since, until = days[0], days[-1]

    began = time.perf_counter()
    Publisher(warehouse, lake_of(warehouse)).publish(BARS)  # type: ignore[arg-type]
    published_s = time.perf_counter() - began

    def lake() -> Any:
        return read_lake_panel(warehouse, BARS.name, COLUMNS, since=since, until=until)

    def arrow() -> Any:
        return arrow_arrays(Path(lake_of(warehouse).address(BARS.name)))  # type: ignore[union-attr]

    def panel() -> Any:
        return read_panel(warehouse, BARS.name, COLUMNS, since=since, until=until)

    def frame() -> Any:
        where = Slice("date", since, until)
        return warehouse.frame(BARS.name, columns=("code", "date", *COLUMNS), where=where)

    def with_pandas() -> Any:
        statement = sa.text(
            f"SELECT code, date, {', '.join(COLUMNS)} FROM {BARS.name} WHERE date>=:since AND date<=:until "
            "ORDER BY code, date"
        )
        with warehouse.engine.connect() as connection:
            return pd.read_sql(statement, connection, params={"since": since, "until": until})

    sides = {"lake": lake, "arrow": arrow, "panel": panel, "frame": frame, "pandas": with_pandas}
    taken_by: dict[str, list[float]] = {name: [] for name in sides}
    grown_by: dict[str, int] = dict.fromkeys(sides, 0)
    for _ in range(SAMPLES):
        for name, work in sides.items():
            taken, grown = _measured(work)
            taken_by[name].append(taken)
            grown_by[name] = max(grown_by[name], grown)
    best = {name: (median(taken_by[name]), grown_by[name]) for name in sides}
    note = ""
    if not warehouse.sqlite:
        note = (
            f"{_server_s(warehouse, since, until):.2f} s of it is the server's own GROUP_CONCAT, "
            "which the pure Python driver cannot shorten; mysqlclient reads rows 1.3 to 2 times as fast"
        )
    what = f"{engine}: {DATES} dates x {CODES} codes x {len(COLUMNS)} columns"
    pandas_s, pandas_bytes = best["pandas"]
    yield Figure(f"{what}, published", seconds(published_s), "", 0.0)
    arrays = len(COLUMNS) * CODES * DATES * 8
    lake_s, lake_bytes = best["lake"]
    yield at_most(f"{what}, lake, vs PyArrow on the same files", lake_s, best["arrow"][0], 1.5)
    yield Figure(
        f"{what}, lake, memory vs the arrays",
        f"{lake_bytes / MIB:.0f} MiB",
        f"{arrays / MIB:.0f} MiB",
        lake_bytes / arrays,
        2.0,
        at_most=True,
    )
    for name, target in (("lake", 20.0), ("panel", 5.0), ("frame", None)):
        taken, grown = best[name]
        yield faster(
            f"{what}, {name}, vs pandas.read_sql", taken, pandas_s, target, note if name == "panel" else ""
        )
        yield Figure(
            f"{what}, {name}, memory vs pandas.read_sql",
            f"{grown / MIB:.0f} MiB",
            f"{pandas_bytes / MIB:.0f} MiB",
            grown / max(pandas_bytes, 1),
            0.25 if target else None,
            at_most=True,
        )
    warehouse.close()


def arrow_arrays(folder: Path) -> dict[str, Any]:
    """What PyArrow alone makes of the published files: the same arrays, axes from the rows."""
    files = sorted(str(path) for path in folder.rglob("is_current=true/*.parquet"))
    source = ds.dataset(files, format="parquet")
    rows = source.to_table(columns=["code", "date", *COLUMNS])
    codes = rows["code"].combine_chunks().dictionary_encode()
    names = codes.dictionary.to_numpy(zero_copy_only=False).astype(str)
    order = np.argsort(names)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    days, column = np.unique(rows["date"].cast(pa.int32()).to_numpy(), return_inverse=True)
    at = place[codes.indices.to_numpy()], column
    values = {}
    for name in COLUMNS:
        values[name] = np.full((len(names), len(days)), np.nan)
        values[name][at] = rows[name].to_numpy()
    return values


def _measured(work: Callable[[], Any]) -> tuple[float, int]:
    """(seconds, bytes at the highest point)."""
    with PeakMemory() as peak:
        began = time.perf_counter()
        kept = work()
        taken = time.perf_counter() - began
    del kept
    return taken, peak.grown


def _server_s(warehouse: Warehouse, since: str, until: str) -> float:
    """Seconds that the server needs for the panel's statement when it sends only the lengths."""
    parts = ", ".join(f"IFNULL({column}, 'nan')" for column in COLUMNS)
    statement = (
        "SELECT SUM(n) FROM (SELECT LENGTH(GROUP_CONCAT("
        f"CONCAT_WS(',', TO_DAYS(date), {parts}) ORDER BY date)) AS n "
        f"FROM {BARS.name} WHERE date>=? AND date<=? GROUP BY code) AS t"
    )
    began = time.perf_counter()
    warehouse.query(statement, (since, until))
    return time.perf_counter() - began
