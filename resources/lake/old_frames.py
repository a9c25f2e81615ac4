"""Rows of the warehouse and of its old years as frames of the pipeline."""

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.declaration.frames import coerce
from core.declaration.tables import Table
from resources.lake.location import lake_of
from resources.lake.old_years import old_years
from resources.lake.reading import LakeReader
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse


def old_frame(
    warehouse: Warehouse, table: Table, *, columns: Sequence[str], where: Slice, as_of: str | None
) -> pd.DataFrame | None:
    """A coerced frame of a slice by dates and codes; None where no old year is part of it."""
    lake = lake_of(warehouse)
    old = old_years(lake, table.name)
    if lake is None or old is None or not old.reaches(where.since):
        return None
    rows = LakeReader(warehouse, lake).read(
        table.name, columns=columns, codes=where.codes, since=where.since, until=where.until, as_of=as_of
    )
    texts = {name: stored_texts(rows[name]) for name in rows.column_names}
    frame = pa.table(texts).to_pandas(strings_to_categorical=False)
    return coerce(frame, [table.column(name) for name in columns])[0]


def stored_texts(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days and times as the warehouse stores them, as text; other values as they are."""
    if pa.types.is_date(values.type):
        return values.cast(pa.string())
    if pa.types.is_timestamp(values.type):
        return pc.strftime(values, "%Y-%m-%d %H:%M:%S")
    return values
