"""Reads of single codes, or of a few weeks, that reach into old years: a statement of the warehouse, over
rows of the warehouse and of the column files.

The rows that it may concern are read from both (`resources.lake.reading`) into a table in memory, and the
same statement runs there: conditions, order and limit mean what they mean in the warehouse. A read that names
neither codes nor days sees the warehouse alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Unpack

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql import operators, visitors

from core.days import moved
from core.declaration.columns import ColumnSpec, columns_from
from core.declaration.tables import Table
from resources.warehouse.change_plan import pattern_id
from resources.warehouse.reads import Selection, codes_along_key, selection, stream_rows
from resources.warehouse.slices import Slice
from resources.warehouse.stored import Where
from resources.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

    from resources.lake.location import Lake
    from resources.lake.old_years import OldYears

_MOST_DAYS = 45
"""Days of all codes that one read takes from column files."""
_MOST_CODES = 400
_CODES_AT_ONCE = 50
_MEMORY = sa.create_engine("sqlite://", poolclass=sa.pool.NullPool)
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class _Part:
    """What the conditions of a read leave of a table."""

    codes: frozenset[str] | None = None
    since: str | None = None
    until: str | None = None

    @classmethod
    def of(cls, where: Sequence[Where], values: Mapping[str, Any]) -> "_Part":
        codes: frozenset[str] | None = None
        since, until = None, None
        for name, sign, given in _comparisons(where, values):
            if name == "code" and sign in (operators.eq, operators.in_op):
                own = frozenset([given] if isinstance(given, str) else given)
                codes = own if codes is None else codes & own
            if name == "date" and sign in (operators.eq, operators.ge, operators.gt):
                since = max(since or "", str(given))
            if name == "date" and sign in (operators.eq, operators.le, operators.lt):
                until = min(until or "9999", str(given))
        return cls(codes, since, until)

    @property
    def is_small(self) -> bool:
        if self.codes is not None:
            return len(self.codes) <= _MOST_CODES
        if self.since is None or self.until is None:
            return False
        return (date.fromisoformat(self.until[:10]) - date.fromisoformat(self.since[:10])).days <= _MOST_DAYS


def _comparisons(where: Sequence[Where], values: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(column, operator, value) of the conditions that all have to hold."""
    for one in where:
        if isinstance(one, sa.BooleanClauseList) and one.operator is operators.and_:
            yield from _comparisons(list(one.clauses), values)
        if not isinstance(one, sa.BinaryExpression) or not isinstance(one.left, sa.ColumnClause):
            continue
        if isinstance(one.right, sa.BindParameter):
            given = values.get(one.right.key, one.right.value)
            if given is not None:
                yield one.left.name, one.operator, given


def with_old_rows(
    warehouse: Warehouse, table: Table, stored: Rows, where: Sequence[Where], **how: Unpack[Selection]
) -> Rows:
    """The answer of a read, where `stored` is the warehouse's."""
    found = _old_of(warehouse, table)
    part = _Part.of(where, how.get("values") or {})
    if found is None or not found[1].reaches(part.since):
        return stored
    lake, old = found
    if not where and _first_day(how) and old.first is not None:
        part = _Part(since=old.first, until=moved(old.first, _MOST_DAYS))
    if not part.is_small or _is_newer(table, stored, old, how):
        return stored
    from resources.lake.reading import LakeReader  # noqa: PLC0415  see `_old_of`

    names = _needed(table, where, how)
    rows = LakeReader(warehouse, lake).read(
        table.name, columns=names, since=part.since, until=part.until, as_of=how.get("as_of"),
        codes=None if part.codes is None else sorted(part.codes),
    )  # fmt: skip
    return _selected(table, names, rows, where, how)


def _first_day(how: Selection) -> bool:
    """Whether a read asks for the first day of a table."""
    by = [str(one) for one in how.get("order") or ()]
    return how.get("limit") == 1 and by == ["date"]


def _is_newer(table: Table, stored: Rows, old: "OldYears", how: Selection) -> bool:
    """Whether the newest rows were asked for and all of them are newer than the old ones."""
    columns, by = tuple(how.get("columns") or table.names), [str(one) for one in how.get("order") or ()]
    if by[:1] != ["date DESC"] or not stored or len(stored) != how.get("limit") or "date" not in columns:
        return False
    at = columns.index("date")
    return min(str(row[at]) for row in stored) > str(old.last)


def _needed(table: Table, where: Sequence[Where], how: Selection) -> list[str]:
    """The columns of a statement."""
    named = {str(one) for one in how.get("order") or () if isinstance(one, str)}
    clauses = [*where, *(one for one in how.get("order") or () if not isinstance(one, str))]
    for clause in clauses:
        named |= {one.name for one in visitors.iterate(clause) if isinstance(one, sa.ColumnClause)}
    asked = set(how.get("columns") or table.names)
    return [name for name in table.names if name in asked | named]


def _selected(
    table: Table, names: Sequence[str], rows: "pa.Table", where: Sequence[Where], how: Selection
) -> Rows:
    """The statement over these rows."""
    specs = [table.column(name) for name in names]
    made = sa.table(table.name, *map(sa.column, names))
    columns = [_stored_form(spec, rows[spec.name]) for spec in specs]
    now: Selection = {**how, "as_of": None}  # the rows are those of that time
    statement, values = selection(table, *where, **now)
    with _MEMORY.connect() as connection:
        connection.exec_driver_sql(f"CREATE TABLE {table.name} ({', '.join(names)})")
        held = list(zip(*columns, strict=True))
        if held:
            connection.exec_driver_sql(str(made.insert().compile(_MEMORY)), held)
        return [tuple(row) for row in connection.execute(statement, values)]


def _stored_form(spec: ColumnSpec, values: "pa.ChunkedArray") -> list[Any]:
    """Values as a driver gives them: days and times as text, flags as 0 and 1, provenance as its id."""
    import pyarrow as pa  # noqa: PLC0415  see above

    from resources.lake.old_frames import stored_texts  # noqa: PLC0415

    if spec.name == "provenance":
        return [None if one is None else pattern_id(one) for one in values.to_pylist()]
    kept = values.cast(pa.int8()) if spec.family == "bool" else stored_texts(values)
    return list(kept.to_pylist())


def old_versions(warehouse: Warehouse, table: Table, key: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The versions of a row that column files have, oldest first, each with its place (`file_name`,
    `file_row`, `file_hash`); times as text."""
    found = _old_of(warehouse, table)
    if found is None:
        return []
    from resources.lake.old_years import PLACE  # noqa: PLC0415  see above

    day = str(key["date"])
    names = [*table.names, "valid_to", "superseded_by", *PLACE]
    rows = (
        found[1]
        .read(names, codes=[str(key["code"])], since=day, until=day, every_version=True)
        .sort_by("valid_from")
    )
    columns = [_stored_form(_spec(table, name), rows[name]) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _spec(table: Table, name: str) -> ColumnSpec:
    kept = {"valid_to": "ts", "file_row": "big"}
    return table.column(name) if name in table.names else columns_from(f"{name}:{kept.get(name, 'k64')}")[0]


def streamed(
    warehouse: Warehouse, connection: Connection, table: Table, columns: Sequence[str], where: Slice,
    *, as_of: str | None = None,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """`reads.stream_rows` of the warehouse and of its old years, some codes at a time."""
    found = _old_of(warehouse, table)
    if found is None or not found[1].reaches(where.since):
        yield from stream_rows(connection, table, columns, where, as_of=as_of)
        return
    from resources.lake.reading import LakeReader  # noqa: PLC0415  see above

    lake, old = found
    codes: Sequence[str] | None = where.codes
    if codes is None:
        stored = connection.exec_driver_sql(codes_along_key(warehouse.sql.name(table.name))).scalars()
        codes = sorted({*map(str, stored), *old.codes()})
    reader, names = LakeReader(warehouse, lake), list(dict.fromkeys(columns))
    for at in range(0, len(codes), _CODES_AT_ONCE):
        rows = reader.read(
            table.name, columns=names, codes=codes[at : at + _CODES_AT_ONCE], since=where.since,
            until=where.until, as_of=as_of,
        )  # fmt: skip
        held = {name: _stored_form(table.column(name), rows[name]) for name in names}
        yield from zip(*(held[name] for name in columns), strict=True)


def rows_of_old_years(warehouse: Warehouse, name: str) -> int:
    """How many rows of a table are in column files."""
    table = warehouse.tables.get(name)
    found = None if table is None else _old_of(warehouse, table)
    return 0 if found is None else found[1].rows


def _old_of(warehouse: Warehouse, table: Table) -> "tuple[Lake, OldYears] | None":
    """The old years of a table, and the lake that they are in."""
    if table.key != ("code", "date") or not table.has_history or not warehouse.may_have_old_years:
        return None
    # PyArrow and deltalake take as long to import as pandas; most installations have no old years.
    from resources.lake.location import lake_of  # noqa: PLC0415

    lake = lake_of(warehouse)
    if lake is None or not lake.old.has(table.name):
        return None
    from resources.lake.old_years import old_years  # noqa: PLC0415

    old = old_years(lake, table.name)
    return None if old is None else (lake, old)
