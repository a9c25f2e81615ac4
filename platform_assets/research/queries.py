"""A question for rows of one table, checked: every error names the argument and the nearest valid value."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from core.declaration.dataset import Dataset
from core.declaration.registry import Registry
from core.declaration.tables import Table
from core.errors import InputError
from core.market.symbols import dataset_code, index_code

ADJUST = ("none", "qfq", "hfq")
FACTOR = "adj_factor"
PRICES = ("open", "high", "low", "close", "last_close", "limit_up", "limit_down")
"""What `adjust` changes; volume and amount stay as traded."""
INDEX_BARS = "fusion_index_daily"
"""The table whose codes are indices."""
_DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}")
_END = time(23, 59, 59, 999999)

Day = str | date
Instant = str | date | datetime


@dataclass(frozen=True)
class RowQuery:
    """Rows of `table`: `columns` in this order, of `codes` (None: all), on days of its date column (both ends
    included), as known now or at `as_of` (exchange time)."""

    table: Table
    columns: tuple[str, ...]
    codes: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    as_of: datetime | None = None


def readable(registry: Registry) -> dict[str, Table]:
    """What can be read, by the name of the dataset: its fused, calculated or reference table; of one that has
    none the table as received, and of one that has several of those each by its own name."""
    found: dict[str, Table] = {}
    for name, dataset in sorted(registry.datasets.items()):
        tables = tables_of(dataset)
        found |= {name: tables[0]} if len(tables) == 1 else {table.name: table for table in tables}
    return found


def tables_of(dataset: Dataset) -> tuple[Table, ...]:
    """The tables that a read of a dataset may mean."""
    return (dataset.table,) if dataset.model is not None else (*dataset.tables(), *dataset.records)


def table_named(registry: Registry, name: str, argument: str = "table") -> Table:
    """The table of a dataset, by the name of either. Raises InputError."""
    known = readable(registry)
    found = known.get(name) or next((one for one in known.values() if one.name == name), None)
    if found is not None:
        return found
    if name in registry.datasets:
        several = " or ".join(table.name for table in tables_of(registry.datasets[name]))
        raise InputError(argument, f"{name} has more than one table: {several}")
    raise InputError(argument, f"{name[:64]!r} is none of the tables{nearest(name, known)}")


def nearest(given: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown value."""
    names = list(known)
    found = difflib.get_close_matches(given, names, n=3, cutoff=0.3) or names[:5]
    return f"; nearest: {', '.join(found)}" if found else ""


def row_query(
    registry: Registry,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    codes: Sequence[str] | str | None = None,
    since: Day | None = None,
    until: Day | None = None,
    as_of: Instant | None = None,
) -> RowQuery:
    """The question, checked. `columns` default to the declared ones, without those of the record keeping.
    Raises InputError that names the argument."""
    declared = table_named(registry, table)
    first, last = day_of("since", since), day_of("until", until)
    if first is not None and last is not None and first > last:
        raise InputError("since", f"{first} lies after until={last}")
    if (first or last) and declared.date_column is None:
        raise InputError("since" if first else "until", f"{declared.name} has no dates")
    if as_of is not None and not declared.has_history:
        raise InputError("as_of", f"{declared.name} keeps no versions; fused tables do")
    return RowQuery(
        declared, _columns(declared, columns), codes_of(declared, codes), first, last, instant_of(as_of)
    )


def _columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return tuple(spec.name for spec in table.columns)
    if isinstance(columns, str):
        columns = [part.strip() for part in columns.split(",") if part.strip()]
    wrong = next((name for name in columns if name not in table.names), None)
    if wrong is not None:
        raise InputError(
            "columns", f"{str(wrong)[:64]!r} is no column of {table.name}{nearest(str(wrong), table.names)}"
        )
    if not columns:
        raise InputError("columns", "is empty; leave it out for all")
    return tuple(dict.fromkeys(columns))


def codes_of(table: Table, codes: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """The codes as the table holds them, each once, whatever their notation. Raises InputError."""
    if codes is None:
        return None
    if "code" not in table.names:
        raise InputError("codes", f"{table.name} has no codes")
    listed = [part.strip() for part in codes.split(",")] if isinstance(codes, str) else list(codes)
    wrong = next((one for one in listed if not isinstance(one, str) or not 1 <= len(one) <= 16), None)
    if wrong is not None:
        shown = f"{wrong:06d}" if isinstance(wrong, int) else "600519"
        raise InputError("codes", f"{wrong!r} is no text like {shown!r}")
    read = index_code if table.name == INDEX_BARS else dataset_code
    try:
        return tuple(dict.fromkeys(read(one) for one in listed))
    except InputError as error:
        raise InputError("codes", error.problem) from None


def day_of(argument: str, value: Day | None) -> str | None:
    """A day as ISO text. Raises InputError."""
    if value is None:
        return None
    if isinstance(value, date):
        return value.isoformat()[:10]
    try:
        if isinstance(value, str) and _DAY.fullmatch(value):
            return date.fromisoformat(value).isoformat()
    except ValueError:
        pass  # said below
    raise InputError(argument, f"{str(value)[:40]!r} is no date like 2026-08-21")


def instant_of(value: Instant | None) -> datetime | None:
    """An instant in exchange time; a day means its end. Raises InputError."""
    if value is None or (isinstance(value, datetime) and value.tzinfo is None):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, _END)
    try:
        if isinstance(value, str):
            if _DAY.fullmatch(value):
                return datetime.combine(date.fromisoformat(value), _END)
            found = datetime.fromisoformat(value)
            if found.tzinfo is None:
                return found
    except ValueError:
        pass  # said below
    raise InputError(
        "as_of", f"{str(value)[:40]!r} is no day or time like 2026-08-21T15:30:00 (exchange time)"
    )


def adjust_of(table: Table, adjust: str | None) -> str:
    """The adjustment of a read. Raises InputError for another word, and where the table has no factor."""
    chosen = adjust or "none"
    if chosen not in ADJUST:
        raise InputError("adjust", f"{chosen[:20]!r} is none of {', '.join(ADJUST)}{nearest(chosen, ADJUST)}")
    if chosen != "none" and FACTOR not in table.names:
        raise InputError("adjust", f"{table.name} has no prices that are adjusted; fusion_kline_daily has")
    return chosen
