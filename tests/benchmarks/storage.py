"""Writing: the market's day and a quarter of days, beside upsert, pandas.to_sql, raw inserts and LOAD."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from resources.warehouse.warehouse import Warehouse
from tests.benchmarks.measure import Figure, at_most, faster, interleaved, timed
from tests.benchmarks.panel_data import CODES, day_frames, trade_dates
from tests.benchmarks.store import (
    BARS,
    TOGETHER,
    Twin,
    load,
    load_client,
    mariadb_database,
    open_store,
    share_in_driver,
    write_day,
    write_days,
    write_load_file,
)

STORED = 60
SAMPLES = 5


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from engine_figures("SQLite", f"sqlite:///{folder}/warehouse.sqlite3", Path(folder))
        with mariadb_database() as url:
            if url is not None:
                yield from engine_figures("MariaDB", url, Path(folder))


def engine_figures(engine: str, url: str, folder: Path) -> Iterator[Figure]:
    warehouse = open_store(url, folder)
    # One file each, so that no side pays for the pages of another.
    raw, upserted, pandas_way = (Twin(warehouse_of(url, warehouse, folder, name), name) for name in "abc")
    days = list(day_frames(trade_dates(STORED + 4 * SAMPLES)))
    stored, fresh = days[:STORED], days[STORED:]
    yield from _into_empty(engine, warehouse, stored, raw, upserted, pandas_way, fresh[-1])
    yield from _market_day(engine, warehouse, stored, fresh, upserted, pandas_way)
    if engine == "MariaDB":
        yield from _against_load(warehouse, fresh[2 * SAMPLES :], folder)
        yield from _compared_by_hand(warehouse, fresh[:SAMPLES], pandas_way, fresh[3 * SAMPLES :], folder)
    for opened in {id(side.engine): side.engine for side in (raw, upserted, pandas_way)}.values():
        opened.dispose()
    warehouse.close()


def warehouse_of(url: str, shared: Warehouse, folder: Path, name: str) -> Warehouse:
    if url.startswith("sqlite"):
        return open_store(f"sqlite:///{folder}/{name}.sqlite3", folder)
    return shared


def _into_empty(
    engine: str,
    warehouse: Warehouse,
    days: list[tuple[str, pd.DataFrame]],
    raw: Twin,
    upserted: Twin,
    pandas_way: Twin,
    extra: tuple[str, pd.DataFrame],
) -> Iterator[Figure]:
    """All stored dates as a range run writes them: some dates per transaction, the same on every side."""
    chunks = [days[at : at + TOGETHER] for at in range(0, len(days), TOGETHER)]
    ours = inserted = appended = 0.0
    for chunk in chunks:
        joined = pd.concat([frame for _, frame in chunk], ignore_index=True)
        prepared = raw.tuples(joined)
        ours += timed(lambda chunk=chunk: write_days(warehouse, chunk))  # type: ignore[misc]
        inserted += timed(lambda prepared=prepared: raw.insert(prepared))  # type: ignore[misc]
        appended += timed(lambda joined=joined: pandas_way.to_sql(joined))  # type: ignore[misc]
        upserted.upsert(joined)
    what = f"{engine}: {len(days)} dates x {CODES} rows into an empty table"
    share = share_in_driver(warehouse, lambda: write_day(warehouse, *extra))
    note = (
        f"{TOGETHER} dates per transaction on every side; {share:.0%} of a single date's write is the "
        "driver's execute calls: the table is clustered by code, so each date touches a page per code"
    )
    yield faster(f"{what}, vs pandas.to_sql", ours, appended, 2.5 if engine == "SQLite" else 2.0, note)
    note = "the baseline inserts rows that are already sorted tuples: no comparison, no checks, no batch"
    yield at_most(f"{what}, vs raw insert", ours, inserted, 2.0 if engine == "SQLite" else None, note)


def _market_day(
    engine: str,
    warehouse: Warehouse,
    stored: list[tuple[str, pd.DataFrame]],
    fresh: list[tuple[str, pd.DataFrame]],
    upserted: Twin,
    pandas_way: Twin,
) -> Iterator[Figure]:
    """A date of 5,500 rows on 330,000 stored ones: new, the same again, 1 % and all of it changed."""
    new = fresh[:SAMPLES]
    what = f"{engine} market day"
    ours, plain, pandas_s = interleaved(
        SAMPLES,
        lambda i: write_day(warehouse, *new[i]),
        lambda i: upserted.upsert(new[i][1]),
        lambda i: pandas_way.to_sql(new[i][1]),
    )
    yield faster(f"{what}, new, vs pandas.to_sql", ours, pandas_s, 2.0 if engine == "MariaDB" else None)
    yield at_most(f"{what}, new, vs plain upsert", ours, plain, None)
    (same,) = interleaved(SAMPLES, lambda i: write_day(warehouse, *stored[-1 - i]))
    note = "every column of every row is compared"
    yield faster(f"{what}, unchanged, vs pandas.to_sql", same, pandas_s, None, note)
    yield at_most(f"{what}, unchanged, vs plain upsert of a new day", same, plain, None)
    (few,) = interleaved(SAMPLES, lambda i: write_day(warehouse, *_changed(stored[-1 - i], 100)))
    yield at_most(f"{what}, 1 % corrected with revisions, vs plain upsert of a new day", few, plain, None)
    (every,) = interleaved(SAMPLES, lambda i: write_day(warehouse, *_changed(stored[-11 - i], 1)))
    yield at_most(f"{what}, 100 % corrected with revisions, vs plain upsert of a new day", every, plain, None)


def _changed(day: tuple[str, pd.DataFrame], step: int) -> tuple[str, pd.DataFrame]:
    frame = day[1].copy()
    frame.loc[frame.index % step == 0, "close"] += 0.01
    return day[0], frame


def _against_load(
    warehouse: Warehouse, fresh: list[tuple[str, pd.DataFrame]], folder: Path
) -> Iterator[Figure]:
    """LOAD DATA LOCAL of the same rows into an empty table: the server's own limit."""
    import pymysql

    target = Twin(warehouse, "loaded")
    files = [folder / f"load{number}.tsv" for number in range(SAMPLES)]
    for path, (_, frame) in zip(files, fresh, strict=False):
        write_load_file(path, target.tuples(frame))
    client = load_client(warehouse.engine.url)
    try:
        ours, limit = interleaved(
            SAMPLES,
            lambda i: write_day(warehouse, *fresh[i]),
            lambda i: load(client, files[i], target.name),
        )
    except pymysql.err.MySQLError as error:
        yield Figure("MariaDB market day vs LOAD", "-", "-", 0.0, note=f"not measured: {error}")
        return
    finally:
        client.close()
    share = share_in_driver(warehouse, lambda: write_day(warehouse, *fresh[SAMPLES]))
    note = (
        "LOAD reads a file that lies ready, into a table without other dates; the writer compares and binds "
        f"every row and writes to a page per code. {share:.0%} of the write is the driver's execute calls"
    )
    yield at_most("MariaDB market day, new, vs LOAD into an empty table", ours, limit, 4.0, note)


def _compared_by_hand(
    warehouse: Warehouse,
    stored: list[tuple[str, pd.DataFrame]],
    pandas_way: Twin,
    fresh: list[tuple[str, pd.DataFrame]],
    folder: Path,
) -> Iterator[Figure]:
    """The floor of an unchanged date: its rows are loaded and joined with the stored ones."""
    import pymysql

    target = Twin(warehouse, "compared")
    files = [folder / f"same{number}.tsv" for number in range(SAMPLES)]
    for path, (_, frame) in zip(files, stored, strict=True):
        write_load_file(path, target.tuples(frame))
    content = " AND ".join(f"a.{name} <=> b.{name}" for name in BARS.content)
    differing = (
        f"SELECT a.code FROM {target.name} a JOIN {BARS.name} b USING (code, date) WHERE NOT ({content})"
    )
    client = load_client(warehouse.engine.url)

    def compare(number: int) -> None:
        with client.cursor() as cursor:
            cursor.execute(f"TRUNCATE TABLE {target.name}")
            load(client, files[number], target.name)
            assert cursor.execute(differing) == 0

    try:
        ours, by_hand, plain = interleaved(
            SAMPLES,
            lambda i: write_day(warehouse, *stored[i]),
            compare,
            lambda i: pandas_way.to_sql(fresh[i][1]),
        )
    except pymysql.err.MySQLError as error:
        yield Figure("MariaDB unchanged day by hand", "-", "-", 0.0, note=f"not measured: {error}")
        return
    finally:
        client.close()
    note = "the file of rows lies ready; no checks, no batch, no version, no quality record"
    yield faster(
        "MariaDB market day, unchanged, by hand (LOAD and join), vs pandas.to_sql", by_hand, plain, None, note
    )
    yield at_most("MariaDB market day, unchanged, vs by hand (LOAD and join)", ours, by_hand, None, note)
