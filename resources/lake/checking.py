"""Compares the published rows of each month with the warehouse's, by a hash of their content."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from core.declaration.tables import Table
from resources.lake.location import Lake
from resources.lake.reading import months_behind, published_rows
from resources.lake.schema import row_schema, sort_key
from resources.lake.warehouse_rows import consistent, month_rows, stored_months
from resources.warehouse.warehouse import Warehouse

SAME, BEHIND, DIFFERENT, ABSENT = "same", "behind", "different", "not published"


@dataclass(frozen=True)
class MonthCheck:
    """One month of one table. `status`: same, different, behind (changed since it was published; not
    compared), or not published."""

    table: str
    month: str
    status: str
    published_rows: int = 0
    stored_rows: int = 0

    @property
    def ok(self) -> bool:
        """Whether readers of the lake get the warehouse's rows, or know that they do not."""
        return self.status != DIFFERENT


def content_hash(rows: pa.Table) -> str:
    """A hash of names, types and values in the order of the rows; equal for equal content, however it is
    encoded or divided into chunks."""
    made = hashlib.sha256()
    for field in rows.schema:
        values = rows[field.name].combine_chunks()
        made.update(f"{field.name}:{field.type}:{len(values)};".encode())
        made.update(values.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
        made.update(_bytes(values))
    return made.hexdigest()


def _bytes(values: pa.Array) -> bytes:
    """The values that are not null, one after the other."""
    held = values.drop_null()
    if pa.types.is_string(held.type):
        lengths = pc.binary_length(held).to_numpy(zero_copy_only=False).tobytes()
        joined = pa.ListArray.from_arrays(pa.array([0, len(held)], pa.int32()), held)
        return bytes(lengths) + str(pc.binary_join(joined, "")[0].as_py()).encode()
    plain = {"bool": pa.uint8(), "date32[day]": pa.int32(), "timestamp[us]": pa.int64()}
    return bytes(held.cast(plain.get(str(held.type), held.type)).to_numpy().tobytes())


def checked(
    warehouse: Warehouse, lake: Lake, table: Table, months: Sequence[str] | None = None
) -> Iterator[MonthCheck]:
    """Every month of a table, or some, each compared in one consistent view of the warehouse."""
    sql = warehouse.sql
    if not lake.has(table.name):
        yield MonthCheck(table.name, "", ABSENT)
        return
    opened = lake.table(table.name)
    if months is None:
        with consistent(warehouse) as connection:
            stored = stored_months(connection, sql, table)
        months = sorted({*stored, *(file.month for file in opened.files)})
    for month in months:
        opened = lake.table(table.name)
        with consistent(warehouse) as connection:
            behind = months_behind(sql, connection, table, opened)
            if behind is None or month in behind:
                yield MonthCheck(table.name, month, BEHIND)
                continue
            own = month_rows(connection, sql, table, month)
        found = published_rows(opened, [month]).select(row_schema(table).names).sort_by(sort_key(table))
        same = content_hash(found.cast(own.schema)) == content_hash(own)
        yield MonthCheck(table.name, month, SAME if same else DIFFERENT, len(found), len(own))
