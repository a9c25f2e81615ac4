"""Declaration -> the schema of the published table.

Dates are dates, times naive timestamps (Asia/Shanghai), numbers float64 or integers, flags booleans, JSON
text. Each field carries `comment` (its title), `unit`, `type` (the dictionary's type name), `key` (its place
in the key, from 0) where it belongs to it, and `date` where the months are its months. A published
table holds the declared and the audit columns; `provenance` is the pattern itself, not its id. A table
that keeps versions holds the superseded rows too, with the validity of every row.
"""

from datetime import datetime

import pyarrow as pa

from core.declaration.columns import ColumnSpec
from core.declaration.tables import Table
from core.errors import InputError

MONTH = "month"
"""Partition column: YYYY-MM of `Table.month_column`."""
CURRENT = "is_current"
"""Partition column of a table that keeps versions: whether the row is not superseded."""
VALID_FROM, VALID_TO = "valid_from", "valid_to"
STILL_VALID = datetime(9999, 12, 31)
"""`valid_to` of a row that is not superseded, so that one filter answers for every instant."""
PROVENANCE = "provenance"
KEY, DATE = "key", "date"
"""In the metadata of fields: the place in the key; the column that holds the date of a row."""
_TYPES = {
    "float": pa.float64(),
    "int": pa.int64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
}


def arrow_type(spec: ColumnSpec) -> pa.DataType:
    """The type of a column; text and JSON are strings."""
    return _TYPES.get(spec.family, pa.string())


def _field(table: Table, spec: ColumnSpec) -> pa.Field:
    if spec.name == PROVENANCE and table.has_history:
        about = {"comment": "columns that came from another source than the row", "unit": "", "type": "json"}
        return pa.field(PROVENANCE, pa.string(), metadata=about)
    about = {"comment": spec.title, "unit": spec.unit, "type": spec.sql}
    if spec.name in table.key:
        about[KEY] = str(table.key.index(spec.name))
    if spec.name == table.date_column:
        about[DATE] = "1"
    return pa.field(spec.name, arrow_type(spec), nullable=spec.name not in table.key, metadata=about)


def row_schema(table: Table) -> pa.Schema:
    """The columns of a published row without the partition columns."""
    fields = [_field(table, spec) for spec in table.all_columns]
    if table.has_history:
        until = {"comment": "superseded at; 9999-12-31 = not superseded", "unit": "", "type": "ts"}
        by = {"comment": "batch that superseded the row", "unit": "", "type": "k32"}
        fields.append(pa.field(VALID_TO, pa.timestamp("us"), nullable=False, metadata=until))
        fields.append(pa.field("superseded_by", pa.string(), metadata=by))
    return pa.schema(fields)


def partition_columns(table: Table) -> list[str]:
    """What the published table is divided by."""
    months = [MONTH] if table.month_column is not None else []
    return [*months, CURRENT] if table.has_history else months


def lake_schema(table: Table) -> pa.Schema:
    """The schema of the published table."""
    made = row_schema(table)
    kinds = {MONTH: pa.string(), CURRENT: pa.bool_()}
    comments = {MONTH: f"month of {table.month_column}", CURRENT: "whether the row is not superseded"}
    for name in partition_columns(table):
        made = made.append(pa.field(name, kinds[name], nullable=False, metadata={"comment": comments[name]}))
    return made


def sort_key(table: Table) -> list[tuple[str, str]]:
    """How rows of one partition follow each other: by the key, versions of a key by their begin."""
    versions = ["valid_from"] if table.has_history and "valid_from" not in table.key else []
    return [(name, "ascending") for name in (*table.key, *versions)]


def instant_of(value: str | datetime) -> datetime:
    """An instant in exchange time. Raises InputError."""
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InputError("as_of", f"{value[:40]!r} is no ISO date-time") from None
