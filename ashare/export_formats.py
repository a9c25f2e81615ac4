"""Rows of a table as Parquet, Excel, or a folder in qlib's binary format; streamed, like the texts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from core.declaration.tables import Table
from core.errors import InputError

Row = tuple[Any, ...]
_CHUNK = 50_000
EXCEL_ROWS = 1_048_575
"""Rows of a sheet below its header."""
QLIB_COLUMNS = ("code", "date", "market", "open", "high", "low", "close", "volume", "amount", "adj_factor")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?%?|-")
_PRICES = ("open", "high", "low", "close")


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk


def write_parquet(
    path: Path, table: Table, columns: Sequence[str], rows: Iterable[Row], notes: Mapping[str, Any]
) -> int:
    """Types, units and titles as in the published tables: dates are dates, times naive timestamps. `notes`:
    what the rows say about themselves, as JSON in the metadata of the schema."""
    import pyarrow as pa  # noqa: PLC0415  the texts need none of it
    import pyarrow.parquet as pq  # noqa: PLC0415

    from resources.lake.schema import PROVENANCE, row_schema  # noqa: PLC0415
    from resources.lake.warehouse_rows import arrow_column  # noqa: PLC0415

    # As the warehouse stores it: provenance is the number of a pattern.
    stored, declared = pa.field(PROVENANCE, pa.int64()), row_schema(table)
    said = {name: json.dumps(value) for name, value in notes.items()}
    schema = pa.schema([stored if name == PROVENANCE else declared.field(name) for name in columns], said)
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk in _chunks(rows):
            arrays = list(map(arrow_column, zip(*chunk, strict=True), schema.types))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            count += len(chunk)
    return count


def as_text(value: Any) -> Any:
    """A value as a cell of a text table. A spreadsheet would run a text that begins like a formula, and texts
    come from upstreams and users: an apostrophe before it shows it as it is."""
    is_formula = isinstance(value, str) and value[:1] in _FORMULA and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def write_excel(path: Path, table: Table, columns: Sequence[str], rows: Iterable[Row]) -> int:
    """One sheet. Raises InputError when it cannot hold the rows."""
    from openpyxl import Workbook  # noqa: PLC0415  as above

    book = Workbook(write_only=True)
    sheet = book.create_sheet(table.name[:31])
    sheet.append(list(columns))
    count = 0
    for row in rows:
        count += 1
        if count > EXCEL_ROWS:
            raise InputError("out", f"a sheet of Excel holds {EXCEL_ROWS} rows; choose fewer, or Parquet")
        sheet.append([as_text(value) for value in row])
    book.save(path)
    return count


def write_qlib(folder: Path, calendar: Sequence[str], rows: Iterable[Row]) -> int:
    """Daily bars (`QLIB_COLUMNS`, in the order of code and date) as qlib reads them: prices times their
    factor, volume divided by it, so that price / $factor is what was traded. The calendar ends with the last
    bar: qlib takes its last date for the end of the data, and later dates from `day_future.txt`."""
    place_of = {day: place for place, day in enumerate(calendar)}
    listed: list[str] = []
    count, last = 0, -1
    for code, group in groupby(rows, key=lambda row: row[0]):
        bars = list(group)
        count += len(bars)
        name = f"{bars[0][2]}{code}".lower()
        places = np.array([place_of[str(row[1])] for row in bars])
        values = {
            column: np.array([np.nan if row[at] is None else float(row[at]) for row in bars])
            for at, column in enumerate(QLIB_COLUMNS)
            if at > 2
        }
        factor = values.pop("adj_factor")
        for column in _PRICES:
            values[column] = values[column] * factor
        values["volume"] = values["volume"] / factor
        own = folder / "features" / name
        own.mkdir(parents=True)
        for column, series in {**values, "factor": factor}.items():
            block = np.full(int(places[-1] - places[0]) + 1, np.nan, dtype="<f4")
            block[places - places[0]] = series
            np.concatenate([np.array([places[0]], dtype="<f4"), block]).tofile(own / f"{column}.day.bin")
        listed.append(f"{name.upper()}\t{bars[0][1]}\t{bars[-1][1]}")
        last = max(last, int(places[-1]))
    texts = (
        ("calendars/day.txt", calendar[: last + 1]),
        ("calendars/day_future.txt", calendar),
        ("instruments/all.txt", listed),
    )
    for part, lines in texts:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return count
