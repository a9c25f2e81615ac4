"""Files as frames of bounded size: CSV, Parquet, Excel, a folder of them, and qlib's binary format.

A row keeps its number in its file, counted from 1 below the header. Nothing is converted here but what a
format itself knows: CSV cells are texts, so that codes keep their zeros.
"""

import csv
import gzip
import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from core.errors import InputError
from platform_assets.pipeline.imports.mapping import FileMapping, near

ROWS = 65_536
"""Rows of one frame."""
NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-", "--"]
_SUFFIXES = (".csv", ".csv.gz", ".parquet", ".xlsx")
_BLOCK = 4 << 20
_BYTES = 1 << 20


FILE, ROW = "\0file", "\0row"
"""Columns of a chunk: where each of its rows is. No file has columns of these names."""


@dataclass(frozen=True)
class Chunk:
    """Rows of files with their places; `share` is how much of all has been read."""

    frame: pd.DataFrame
    share: float


@dataclass(frozen=True)
class SourceFile:
    """A file that is read; `name` relative to the folder that was given."""

    name: str
    path: Path
    size: int


def is_qlib(path: Path) -> bool:
    return (path / "features").is_dir() and (path / "calendars").is_dir()


def source_files(path: Path) -> list[SourceFile]:
    """The files of a path, by name. Raises InputError when there is none that can be read."""
    if not path.exists():
        raise InputError("file", f"{path} is not there")
    if path.is_file():
        if not path.name.endswith(_SUFFIXES):
            raise InputError("file", f"{path.name} ends in none of {', '.join(_SUFFIXES)}")
        return [SourceFile(path.name, path, path.stat().st_size)]
    inside = sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
    if is_qlib(path):
        inside = [one for one in inside if one.suffix in (".bin", ".txt")]
    else:
        inside = [one for one in inside if one.name.endswith(_SUFFIXES)]
    if not inside:
        raise InputError("file", f"{path} holds no {', '.join(_SUFFIXES)} file, nor a folder of qlib")
    return [SourceFile(str(one.relative_to(path)), one, one.stat().st_size) for one in inside]


def file_hash(files: Sequence[SourceFile]) -> str:
    """SHA-256 of a file; of several, of their names and hashes."""
    own = [(one.name, _sha256(one.path)) for one in files]
    if len(own) == 1:
        return own[0][1]
    return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in own).encode()).hexdigest()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as handle:
            while block := handle.read(_BYTES):
                digest.update(block)
    except OSError as error:
        raise InputError("file", f"{path.name} cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def chunks(path: Path, files: Sequence[SourceFile], mapping: FileMapping) -> Iterator[Chunk]:
    """The mapped columns of every file. Raises InputError that names the file, and the row where a format
    tells it."""
    if path.is_dir() and is_qlib(path):
        yield from _qlib(path, mapping)
        return
    total, before = sum(one.size for one in files) or 1, 0
    for one in files:
        row, rows = 1, _rows_of(one, mapping)
        try:
            for frame, share in rows:
                placed = frame.assign(**{FILE: one.name, ROW: np.arange(row, row + len(frame))})
                yield Chunk(placed, (before + share * one.size) / total)
                row += len(frame)
        except InputError:
            raise
        except UnicodeDecodeError as error:
            raise InputError("file", _undecodable(one, mapping, error)) from None
        except (pa.ArrowException, OSError, EOFError, ValueError, zipfile.BadZipFile, KeyError) as error:
            if "invalid UTF8" in str(error):
                raise InputError("file", _undecodable(one, mapping, error)) from None
            kind = one.path.suffix.lstrip(".")
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                "file", f"{one.name}, after row {row - 1}: cannot be read as {kind}: {reason}"
            ) from None
        before += one.size


def _rows_of(one: SourceFile, mapping: FileMapping) -> Iterator[tuple[pd.DataFrame, float]]:
    if one.name.endswith(".parquet"):
        return _parquet(one, mapping)
    if one.name.endswith(".xlsx"):
        return _excel(one, mapping)
    return _csv(one, mapping)


def _must_hold(one: SourceFile, names: Sequence[str], wanted: Sequence[str]) -> None:
    missing = next((name for name in wanted if name not in names), None)
    if missing is not None:
        raise InputError("map", f"{one.name} has no column {missing!r}{near(missing, names)}")


def _parquet(one: SourceFile, mapping: FileMapping) -> Iterator[tuple[pd.DataFrame, float]]:
    with pq.ParquetFile(one.path) as file:
        _must_hold(one, file.schema_arrow.names, mapping.wanted)
        done, total = 0, file.metadata.num_rows or 1
        for batch in file.iter_batches(batch_size=ROWS, columns=list(mapping.wanted)):
            done += batch.num_rows
            yield batch.to_pandas(), done / total


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _csv(one: SourceFile, mapping: FileMapping) -> Iterator[tuple[pd.DataFrame, float]]:
    with _opened(one.path) as handle:
        head = handle.readline().decode(mapping.encoding).lstrip("\ufeff")
    names = next(csv.reader([head], delimiter=mapping.delimiter), [])
    _must_hold(one, names, mapping.wanted)
    texts = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        include_columns=list(mapping.wanted),
        strings_can_be_null=True,
        null_values=NULLS,
    )
    how = pacsv.ReadOptions(
        encoding=mapping.encoding, block_size=_BLOCK, column_names=names, skip_rows=1, use_threads=False
    )
    done = 0
    with _opened(one.path) as handle, pacsv.open_csv(
        handle,
        read_options=how,
        parse_options=pacsv.ParseOptions(delimiter=mapping.delimiter),
        convert_options=texts,
    ) as reader:  # fmt: skip
        for batch in reader:
            done += _BLOCK
            yield batch.to_pandas(), min(done / max(one.size, 1), 1.0)


def _undecodable(one: SourceFile, mapping: FileMapping, error: Exception) -> str:
    """The message for a text in another encoding, with the first row that shows it."""
    with _opened(one.path) as handle:
        for number, line in enumerate(handle):
            try:
                line.decode(mapping.encoding)
            except UnicodeDecodeError as found:
                place = f"row {number}" if number else "the header"
                return f"{one.name}, {place}: is not {mapping.encoding} ({found.reason}); say its `encoding`"
    return f"{one.name}: is not {mapping.encoding} ({error})"


def _excel(one: SourceFile, mapping: FileMapping) -> Iterator[tuple[pd.DataFrame, float]]:
    from openpyxl import load_workbook  # noqa: PLC0415  0.2 s that other formats do not need

    book = load_workbook(one.path, read_only=True, data_only=True)
    try:
        if mapping.sheet is not None and mapping.sheet not in book.sheetnames:
            raise InputError(
                "sheet", f"{one.name} has no sheet {mapping.sheet!r}{near(mapping.sheet, book.sheetnames)}"
            )
        sheet = book[mapping.sheet] if mapping.sheet else book[book.sheetnames[0]]
        lines = sheet.iter_rows(values_only=True)
        names = ["" if cell is None else str(cell) for cell in next(lines, ())]
        _must_hold(one, names, mapping.wanted)
        places = [names.index(name) for name in mapping.wanted]
        held: list[tuple[Any, ...]] = []
        for line in lines:
            held.append(tuple(line[at] if at < len(line) else None for at in places))
            if len(held) == ROWS:
                yield pd.DataFrame(held, columns=list(mapping.wanted), dtype=object), 0.5
                held = []
        if held:
            yield pd.DataFrame(held, columns=list(mapping.wanted), dtype=object), 1.0
    finally:
        book.close()


def _qlib(path: Path, mapping: FileMapping) -> Iterator[Chunk]:
    """Rows of qlib's binary format, by instrument: columns `instrument`, `date` and the names of the fields.
    A field is little-endian float32; its first number is the place of its first day in the calendar."""
    fields = [name for name in mapping.wanted if name not in ("instrument", "date")]
    try:
        days = np.array((path / "calendars" / "day.txt").read_text(encoding="utf-8").split(), dtype=object)
    except OSError as error:
        raise InputError("file", f"calendars/day.txt cannot be read ({error.strerror})") from None
    folders = sorted(one for one in (path / "features").iterdir() if one.is_dir())
    held: list[pd.DataFrame] = []
    for number, folder in enumerate(folders, start=1):
        held.append(_instrument(folder, fields, days))
        if sum(map(len, held)) >= ROWS or number == len(folders):
            yield Chunk(pd.concat(held, ignore_index=True), number / len(folders))
            held = []


def _instrument(folder: Path, fields: Sequence[str], days: Any) -> pd.DataFrame:
    """The rows of one instrument that hold a number in any of the fields."""
    name = f"features/{folder.name}"
    columns = {field: _bin(folder / f"{field}.day.bin", name, days) for field in fields}
    first = min((start for start, _ in columns.values()), default=0)
    last = max((start + len(values) for start, values in columns.values()), default=0)
    wide = {field: np.full(last - first, np.nan) for field in fields}
    for field, (start, values) in columns.items():
        wide[field][start - first : start - first + len(values)] = values
    frame = pd.DataFrame(wide, columns=list(fields))
    frame.insert(0, "instrument", folder.name)
    frame.insert(1, "date", days[first:last])
    placed = frame.assign(**{FILE: name, ROW: np.arange(1, len(frame) + 1)})
    return placed[frame[list(fields)].notna().any(axis=1)]


def _bin(path: Path, name: str, days: Any) -> tuple[int, Any]:
    """(place of the first day, figures): each as the decimal that its float32 stands for."""
    try:
        raw = path.read_bytes()
    except OSError:
        raise InputError("map", f"{name} has no field {path.name.removesuffix('.day.bin')!r}") from None
    if len(raw) % 4 or len(raw) < 4:
        raise InputError("file", f"{name}/{path.name}: {len(raw)} bytes are no whole numbers; it is cut off")
    numbers = np.frombuffer(raw, dtype="<f4")
    start = int(numbers[0]) if np.isfinite(numbers[0]) else -1
    if start < 0 or start + len(numbers) - 1 > len(days):
        raise InputError("file", f"{name}/{path.name}: its days are outside of calendars/day.txt")
    # 10.1 as float32 is 10.1000004: seven digits are what it holds.
    return start, np.array([float(f"{value:.7g}") for value in numbers[1:].tolist()])
