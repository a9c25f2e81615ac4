"""The market of one date for the screener: a row per stock, its display fields, its bars."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.market.names import special
from platform_assets.compute.dsl.evaluate import Table
from platform_assets.compute.dsl.field_words import Field
from platform_assets.compute.dsl.fields import WIDE, catalogue
from platform_assets.compute.dsl.technical_fields import PATTERN, ZERO_WITHOUT_A_ROW
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session
from serving_api.framework.display_fields import COLUMNS
from serving_api.quant.screener import queries

TABLES = tuple(dict.fromkeys(one.table for one in catalogue().fields.values() if one.table))


@dataclass(frozen=True)
class Market:
    """`as_of` is the bound instant, or None; `absent` are tables without rows of the date; `unversioned`
    those that show the date as last calculated although an instant is requested; `version` is that of
    the tables at or before reading, None when the market must not be cached."""

    date: str
    as_of: str | None
    table: Table
    display: Mapping[str, tuple[Any, ...]]
    absent: frozenset[str]
    unversioned: frozenset[str] = frozenset()
    version: str | None = None

    def row(self, at: int) -> dict[str, Any]:
        """The display fields of one stock."""
        return {name: values[at] for name, values in self.display.items()}

    def value(self, field: str, at: int) -> Any:
        """A field of one stock as a response shows it."""
        kind = catalogue()[field].kind
        if kind == "text":
            return self.table.texts(field)[at]
        value = float(self.table.numbers(field)[at])
        if np.isnan(value):
            return None
        return bool(value) if kind == "flag" else value

    @property
    def size(self) -> int:
        """Bytes, about."""
        return len(self.table) * (len(self.table.columns) * 9 + len(self.display) * 40)


def market_of(session: Session, day: str | None, as_of: str | None) -> Market | None:
    """The market of a date, or of the newest; None when no display row is stored."""
    day = day or newest_of(session, WIDE, as_of)
    if day is None:
        return None
    by_table: dict[str, list[Field]] = {}
    for field in catalogue().fields.values():
        if field.table:
            by_table.setdefault(field.table, []).append(field)
    wide_columns = [*(one.column for one in by_table[WIDE]), *COLUMNS.values()]
    wide = queries.rows_of_date(session, WIDE, list(dict.fromkeys(wide_columns)), day, as_of)
    if not wide:
        return None
    codes = wide["code"]
    columns: dict[str, npt.NDArray[Any]] = {}
    absent = set()
    for table, fields in by_table.items():
        stored = wide
        if table != WIDE:
            requested = list(dict.fromkeys(one.column for one in fields))
            stored = queries.rows_of_date(session, table, requested, day, as_of)
        if not stored:
            absent.add(table)
            continue
        rows = None if stored is wide else _rows(codes, stored["code"])
        for field in fields:
            if field.column in stored:
                columns[field.name] = _column(field, stored[field.column], day, rows)
    columns["st"] = _special(wide)
    blank = (None,) * len(codes)
    display = {name: wide.get(column, blank) for name, column in COLUMNS.items()}
    unversioned = {table for table in by_table.keys() - absent if not session.table(table).has_history}
    return Market(
        day,
        as_of,
        Table(np.array(codes, dtype=object), columns),
        display,
        frozenset(absent),
        frozenset() if as_of is None else frozenset(unversioned),
    )


def _rows(codes: tuple[str, ...], stored: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """The row of each code in a table, -1 when it has none."""
    place = {code: at for at, code in enumerate(stored)}
    return np.array([place.get(code, -1) for code in codes], dtype=np.int64)


def _column(
    field: Field, stored: tuple[Any, ...], day: str, rows: npt.NDArray[np.int64] | None
) -> npt.NDArray[Any]:
    """A column in the order of the codes."""
    values: npt.NDArray[Any]
    missing: Any = None
    if field.kind == "text":
        values = np.array(stored, dtype=object)
    elif field.unit == "days":
        values = _days_since(stored, day)
    else:
        values = np.array(stored, dtype=np.float64)
        if field.positive:
            values = np.where(values > 0, values, np.nan)
    if rows is None:
        return values
    if field.kind != "text":
        missing = 0.0 if field.table == PATTERN and field.name in ZERO_WITHOUT_A_ROW else np.nan
    return np.where(rows >= 0, values[rows], missing)


def _special(wide: Mapping[str, tuple[Any, ...]]) -> Floats:
    """1 for special treatment on the date, NaN when it is unknown."""
    blank = (None,) * len(wide["code"])
    pairs = zip(wide.get("is_st", blank), wide.get("name", blank), strict=True)
    return np.array([special(state, name) for state, name in pairs], dtype=np.float64)


def _days_since(dates: tuple[Any, ...], day: str) -> Floats:
    """Calendar days from each date to `day`."""
    stored = np.array([str(one)[:10] if one else "NaT" for one in dates], dtype="datetime64[D]")
    days: Floats = (np.datetime64(day, "D") - stored).astype("timedelta64[D]").astype(np.float64)
    return np.where(np.isnat(stored), np.nan, days)
