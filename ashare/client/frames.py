"""Rows as frames of pandas, polars or Arrow; market windows as matrices; adjusted prices."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.declaration.tables import Table
from core.errors import InputError, PlatformError
from platform_assets.research.queries import FACTOR, PRICES, nearest
from resources.lake.schema import row_schema

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("pandas", "polars", "arrow")


def frame_kind(kind: str) -> str:
    """Raises InputError for a kind of frame that there is not."""
    if kind not in KINDS:
        raise InputError(
            "frames", f"{str(kind)[:20]!r} is none of {', '.join(KINDS)}{nearest(str(kind), KINDS)}"
        )
    return kind


def canonical(table: Table, rows: pa.Table) -> pa.Table:
    """Rows with the types of the declaration, units and titles in the fields' metadata, in one chunk."""
    declared = row_schema(table)
    schema = pa.schema([declared.field(name) for name in rows.column_names])
    return rows.cast(schema).combine_chunks()


def as_frame(rows: pa.Table, kind: str, notes: Mapping[str, Any]) -> Any:
    """Dates are datetimes in pandas (numbers with nulls are float64 there), dates in polars and Arrow.
    `notes`: what the answer says about itself, in the attributes of pandas' frame and the metadata of
    Arrow's schema (JSON); a frame of polars has no place for it."""
    if kind == "arrow":
        known = {name: json.dumps(value) for name, value in notes.items()}
        return rows.replace_schema_metadata({**(rows.schema.metadata or {}), **known}) if known else rows
    if kind == "polars":
        try:
            import polars  # noqa: PLC0415  optional
        except ImportError:
            raise PlatformError("frames: polars is not installed: pip install polars") from None
        return polars.from_arrow(rows)
    frame = rows.to_pandas(date_as_object=False)
    frame.attrs.update(notes)
    return frame


def adjusted(rows: pa.Table, later: pa.Table | None, how: str) -> pa.Table:
    """Prices multiplied by the factor of their bar (`hfq`), or by it over the factor of the newest bar of the
    code that is known (`qfq`): that of `later` (code, factor; the newest last), else of the rows."""
    if how == "none" or not len(rows):
        return rows
    factor = rows[FACTOR].to_numpy(zero_copy_only=False)
    ratio = np.where(np.isnan(factor), 1.0, factor)
    if how == "qfq":
        codes = rows["code"].to_pylist()
        newest = dict(zip(codes, ratio.tolist(), strict=True))
        if later is not None:
            pairs = zip(later["code"].to_pylist(), later[FACTOR].to_pylist(), strict=True)
            newest |= {code: value for code, value in pairs if value is not None}
        ratio = ratio / np.array([newest[code] for code in codes])
    for name in [one for one in PRICES if one in rows.column_names]:
        place = rows.column_names.index(name)
        values = pc.multiply(rows[name], pa.array(ratio))
        rows = rows.set_column(place, rows.schema.field(place), values)
    return rows


@dataclass(frozen=True)
class Panel:
    """A window of the market: `values[column]` is float64 [dates, codes], NaN where there is no row. `notes`:
    what the answer says about itself, also in the attributes of its frames.

    >>> days, codes = np.array(["2026-08-20", "2026-08-21"]), ("000001", "600519")
    >>> panel = Panel(tuple(days), codes, {"close": np.array([[10.0, 1400.0], [10.1, 1410.0]])})
    >>> panel["close"]
    code        000001  600519
    date
    2026-08-20    10.0  1400.0
    2026-08-21    10.1  1410.0
    """

    dates: tuple[str, ...]
    codes: tuple[str, ...]
    values: dict[str, npt.NDArray[np.float64]]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, column: str) -> "pd.DataFrame":
        """One column as a frame [dates x codes] of pandas. Raises InputError for one that was not read."""
        import pandas as pd  # noqa: PLC0415  a panel may be used without it

        if column not in self.values:
            raise InputError("column", f"{column!r} was not read{nearest(column, self.values)}")
        index = pd.DatetimeIndex(self.dates, name="date")
        frame = pd.DataFrame(self.values[column], index=index, columns=pd.Index(self.codes, name="code"))
        frame.attrs.update(self.notes)
        return frame


def panel_of(rows: pa.Table, date: str, columns: Sequence[str], notes: Mapping[str, Any]) -> Panel:
    """Rows as matrices of dates and codes, both ascending."""
    codes = pc.dictionary_encode(rows["code"].combine_chunks())
    days = pc.dictionary_encode(rows[date].combine_chunks())
    (named, across), (dated, down) = (_places(one) for one in (codes, days))
    values = {}
    for column in columns:
        block = np.full((len(dated), len(named)), np.nan)
        block[down, across] = rows[column].cast(pa.float64()).to_numpy(zero_copy_only=False)
        values[column] = block
    return Panel(tuple(str(day)[:10] for day in dated), tuple(named), values, notes)


def _places(encoded: Any) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """(values ascending, place of each row among them)."""
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    values = encoded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = np.empty(len(values), dtype=np.intp)
    rank[order] = np.arange(len(values))
    return [values[at] for at in order], rank[encoded.indices.to_numpy(zero_copy_only=False)]
