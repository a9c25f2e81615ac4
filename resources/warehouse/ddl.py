"""Declarations -> SQLAlchemy tables, on both engines.

Numbers are DOUBLE; dates TEXT ISO in SQLite and DATE in MariaDB; JSON canonical text. Time series are
clustered by their natural key (`WITHOUT ROWID` in SQLite) with a second index on the date; tables with
long text keep their rowid. On MariaDB the large series are divided by months (`month_partitions`).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Connection, Engine

from core.declaration.columns import ColumnSpec
from core.declaration.tables import HISTORY_COLUMNS, Layer, Table
from resources.warehouse.month_partitions import first_partition

_MYSQL = ("mysql", "mariadb")
_LONG = frozenset({"text", "mtext", "json", "s512"})
BINARY = "utf8mb4_bin"


def sql_type(spec: ColumnSpec) -> sa.types.TypeEngine[Any]:
    """The column type on either engine (variants name both dialect spellings)."""
    kind: sa.types.TypeEngine[Any]
    match spec.family:
        case "float":
            kind = sa.Float(53).with_variant(mysql.DOUBLE(), *_MYSQL)
        case "int":
            whole = sa.BigInteger() if spec.sql == "big" else sa.Integer()
            kind = whole.with_variant(sa.Integer(), "sqlite")
        case "bool":
            kind = sa.SmallInteger().with_variant(mysql.TINYINT(1), *_MYSQL)
        case "date":
            kind = sa.Text().with_variant(mysql.DATE(), *_MYSQL)
        case "time":
            precise = mysql.DATETIME(fsp=6) if spec.sql == "ts" else mysql.DATETIME()
            kind = sa.Text().with_variant(precise, *_MYSQL)
        case "json":
            kind = sa.Text().with_variant(mysql.LONGTEXT(collation=BINARY), *_MYSQL)
        case _:
            if spec.column_type.length is None:
                long = mysql.MEDIUMTEXT if spec.sql == "mtext" else mysql.TEXT
                kind = sa.Text().with_variant(long(collation=BINARY), *_MYSQL)
            elif spec.column_type.ascii:
                ascii_text = mysql.VARCHAR(spec.column_type.length, charset="ascii", collation="ascii_bin")
                kind = sa.String(spec.column_type.length).with_variant(ascii_text, *_MYSQL)
            else:
                text = mysql.VARCHAR(spec.column_type.length, collation=BINARY)
                kind = sa.String(spec.column_type.length).with_variant(text, *_MYSQL)
    return kind


def _columns(specs: Iterable[ColumnSpec], key: tuple[str, ...], *, serial: bool) -> list[sa.Column[Any]]:
    return [
        sa.Column(
            spec.name,
            sql_type(spec),
            primary_key=spec.name in key,
            nullable=spec.name not in key,
            autoincrement=serial and spec.name in key,
            comment=(spec.title or None),
        )
        for spec in specs
    ]


def _keeps_rowid(table: Table) -> bool:
    return (
        table.serial
        or any(spec.sql in _LONG for spec in table.columns if spec.sql != "json")
        or (table.layer is Layer.RAW and table.payload)
    )


def _table(
    metadata: sa.MetaData, table: Table, name: str, columns: list[sa.Column[Any]], *more: Any, **options: Any
) -> sa.Table:
    """A table of a declaration with its indexes."""
    indexes = [sa.Index(f"ix_{name}_{'_'.join(names)}", *names) for names in _index_columns(table)]
    partition = first_partition(table)
    if partition is not None:
        options["mysql_partition_by"] = partition
    return sa.Table(
        name, metadata, *columns, *indexes, *more, sqlite_with_rowid=_keeps_rowid(table),
        mysql_engine="InnoDB", mysql_charset="utf8mb4", mysql_collate=BINARY, **options,
    )  # fmt: skip


def build_table(metadata: sa.MetaData, table: Table) -> sa.Table:
    """The current-rows table of a declaration."""
    uniques = [
        sa.UniqueConstraint(*columns, name=f"uq_{table.name}_{'_'.join(columns)}") for columns in table.unique
    ]
    columns = _columns(table.all_columns, table.key, serial=table.serial)
    return _table(metadata, table, table.name, columns, *uniques, comment=table.description[:250] or None)


def _index_columns(table: Table) -> list[tuple[str, ...]]:
    requested = list(table.indexes)
    if table.date_column and table.key[0] != table.date_column and (table.date_column,) not in requested:
        requested.append((table.date_column,))
    return requested


def build_history(metadata: sa.MetaData, table: Table) -> sa.Table:
    """The twin that keeps superseded versions; key = natural key + the batch that replaced the row."""
    key = (*table.key, "superseded_by")
    columns = _columns((*table.all_columns, *HISTORY_COLUMNS), key, serial=False)
    return _table(metadata, table, table.history_name, columns)


@lru_cache(maxsize=8)
def build_metadata(tables: tuple[Table, ...]) -> sa.MetaData:
    """DDL of the tables and their history, the same for every engine. Made once per set of tables and never
    changed: a hundred of them take a fifth of a second."""
    metadata = sa.MetaData()
    for table in tables:
        build_table(metadata, table)
        if table.has_history:
            build_history(metadata, table)
    return metadata


def create_missing(engine: Engine, metadata: sa.MetaData) -> list[str]:
    """Create what the declarations have and the database lacks: tables, nullable columns, indexes.
    Idempotent; returns what was added. The caller holds the migration lock."""
    added: list[str] = []
    with engine.begin() as connection:
        inspector = sa.inspect(connection)
        present = set(inspector.get_table_names())
        for table in metadata.sorted_tables:
            if table.name not in present:
                table.create(connection)
                added.append(table.name)
            else:
                added += _add_missing(connection, inspector, table)
    return added


def _add_missing(connection: Connection, inspector: sa.Inspector, table: sa.Table) -> list[str]:
    added = []
    columns = {column["name"] for column in inspector.get_columns(table.name)}
    quote = connection.dialect.identifier_preparer.quote
    for column in table.columns:
        if column.name not in columns:
            kind = column.type.compile(connection.dialect)
            connection.exec_driver_sql(
                f"ALTER TABLE {quote(table.name)} ADD COLUMN {quote(column.name)} {kind} NULL"
            )
            added.append(f"{table.name}.{column.name}")
    indexes = {index["name"] for index in inspector.get_indexes(table.name)}
    for index in table.indexes:
        if index.name not in indexes:
            index.create(connection)
            added.append(f"{table.name}:{index.name}")
    return added
