"""Checked rows on disk, one Parquet file a month (or a group of codes): whatever the order of a file, a month
is read back at once and no more than a few months are in memory.

The folder is complete when `ready.json` is in it; an import that was interrupted before begins the reading
again, one that was interrupted afterwards goes on with the months that are missing.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.declaration.columns import ColumnSpec
from core.errors import PlatformError
from platform_assets.pipeline.imports.rows import Refused

_BUFFER = 8_000
"""Rows of one month that are held before they are written."""
_READY = "ready.json"
_TYPES = {"float": pa.float64(), "int": pa.int64(), "bool": pa.bool_()}


class Spool:
    """The rows of one file below `folder`; `columns` are those of the staging table. Rows whose column `by`
    begins with the same `length` characters are in one part: a month where it is a day."""

    def __init__(
        self, folder: Path, columns: tuple[ColumnSpec, ...], key: tuple[str, ...], by: str, length: int
    ) -> None:
        self._folder, self._key, self._by, self._length = folder, key, by, length
        fields = [pa.field(spec.name, _TYPES.get(spec.family, pa.string())) for spec in columns]
        self._schema = pa.schema(
            [*fields, pa.field("file_name", pa.string()), pa.field("file_row", pa.int64())]
        )

    @property
    def ready(self) -> dict[str, Any] | None:
        """{months: {month: rows}, refused} of a folder that is complete."""
        path = self._folder / _READY
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if all(self._path(month).exists() for month in found["months"]) else None

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def fill(self, frames: Iterator[pd.DataFrame], refused: Refused, *, skip: bool) -> dict[str, Any]:
        """Write the frames; the facts of `ready`. Rows whose key is there twice are `refused`; with `skip`
        the first is kept. Nothing of a folder before is kept."""
        self.clear()
        try:
            self._folder.mkdir(parents=True)
            months = self._write(frames)
        except OSError as error:
            self.clear()
            raise PlatformError(f"DATA_DIR: {self._folder} cannot be written ({error.strerror})") from None
        except BaseException:
            self.clear()
            raise
        for month in months:
            months[month] -= self._repeated(month, refused, skip=skip)
        return {"months": dict(sorted(months.items())), "refused": refused.rows}

    def seal(self, facts: dict[str, Any]) -> None:
        """From now on `ready` answers these facts."""
        (self._folder / _READY).write_text(json.dumps(facts), encoding="utf-8")

    def month(self, month: str) -> pd.DataFrame:
        """The rows of a month in the order of the key."""
        table = pq.read_table(self._path(month))
        return _frame(table).sort_values(list(self._key), kind="stable").reset_index(drop=True)

    def _path(self, month: str) -> Path:
        return self._folder / f"{month}.parquet"

    def _write(self, frames: Iterator[pd.DataFrame]) -> dict[str, int]:
        writers: dict[str, pq.ParquetWriter] = {}
        held: dict[str, list[pa.Table]] = {}
        rows: dict[str, int] = {}
        waiting: dict[str, int] = {}

        def flush(month: str) -> None:
            if month not in writers:
                writers[month] = pq.ParquetWriter(self._path(month), self._schema, compression="zstd")
            writers[month].write_table(pa.concat_tables(held.pop(month)))
            waiting[month] = 0

        try:
            for frame in frames:
                if frame.empty:
                    continue
                table = pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False)
                months = frame[self._by].str[: self._length].to_numpy(dtype=str)
                order = np.argsort(months, kind="stable")
                named, starts = np.unique(months[order], return_index=True)
                table = table.take(pa.array(order))
                for month, start, end in zip(named.tolist(), starts, [*starts[1:], len(months)], strict=True):
                    held.setdefault(month, []).append(table.slice(int(start), int(end - start)))
                    rows[month] = rows.get(month, 0) + int(end - start)
                    waiting[month] = waiting.get(month, 0) + int(end - start)
                    if waiting[month] >= _BUFFER:
                        flush(month)
            for month in list(held):
                flush(month)
        finally:
            for writer in writers.values():
                writer.close()
        return rows

    def _repeated(self, month: str, refused: Refused, *, skip: bool) -> int:
        """Rows of a month whose key a row before them has; with `skip` they are taken out."""
        names = [*self._key, "file_name", "file_row"]
        found = pq.read_table(self._path(month), columns=names).to_pandas()
        found = found.sort_values(["file_name", "file_row"], kind="stable")
        again = found.duplicated(subset=list(self._key), keep="first")
        if not again.any():
            return 0
        first = found.drop_duplicates(subset=list(self._key)).set_index(list(self._key))["file_row"]
        lost = found[again]
        pairs = lost[list(self._key)].apply(tuple, axis=1)
        twins = lost.assign(first=[int(first.loc[pair]) for pair in pairs])
        refused.add(
            twins, np.ones(len(twins), dtype=bool), "key: a row before has the same; it is row", "first"
        )
        refused.rows += len(twins)
        if skip:
            whole = _frame(pq.read_table(self._path(month)))
            kept = whole.sort_values(["file_name", "file_row"], kind="stable")
            kept = kept.drop_duplicates(subset=list(self._key), keep="first")
            pq.write_table(
                pa.Table.from_pandas(kept, schema=self._schema, preserve_index=False), self._path(month)
            )
        return len(lost)


def _frame(table: pa.Table) -> pd.DataFrame:
    """Texts as objects, whole numbers and flags with nulls, as `frames.coerce` makes them."""
    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame = table.to_pandas(types_mapper=kinds.get, strings_to_categorical=False)
    for name in table.schema.names:
        if pa.types.is_string(table.schema.field(name).type):
            frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame
