"""Months as partitions of the large series, on MariaDB and MySQL.

A series is clustered by code, so a new trade date adds a row in a page of each code: 5,500 pages in a table
of years. In a partition of one month the rows of several codes share a page, and the month stays in memory.
Tables are made with one partition; `extend` puts a month apart before its first row comes, and `merge_years`
makes one partition of each year before the last, since a read of a code looks into every partition of its
dates. SQLite has no partitions: there both do nothing.
"""

import logging
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from sqlalchemy.engine import Engine

from core.declaration.tables import Table
from resources.warehouse.engine import is_sqlite, transaction
from resources.warehouse.sql import Sql

log = logging.getLogger(__name__)
BEFORE, AFTER = "p_before", "p_after"
MONTHS_AHEAD = 2
"""Months after the current one that are put apart."""
MONTHS_BACK = 1
"""Months before the current one that a new table has apart: late dates of the last month are common."""
_CLAUSE = f"PARTITION {AFTER} VALUES LESS THAN (MAXVALUE)"


def has_months(table: Table) -> bool:
    """Whether a table is divided by months: one row per stock and trade date, or per source of them."""
    column = table.date_column
    if column is None or table.column(column).family != "date":
        return False
    return table.key in (("code", column), ("code", column, "src"))


def first_partition(table: Table) -> str | None:
    """What follows PARTITION BY when the table is made; None for a table without months."""
    return f"RANGE COLUMNS(`{table.date_column}`) ({_CLAUSE})" if has_months(table) else None


def extend(engine: Engine, tables: Iterable[Table], now: datetime) -> list[str]:
    """Put the months up to MONTHS_AHEAD apart in every divided table and its history; returns what was
    added. A table that was made without partitions is left alone. Raises StorageError."""
    return [
        f"{name}:{added}"
        for name, held in _divided(engine, tables).items()
        for added in _extend(engine, name, held, now.date())
    ]


def merge_years(engine: Engine, tables: Iterable[Table], now: datetime) -> list[str]:
    """Make one partition of the months of each year before the last one; returns what was made. Rows of the
    year are copied once, and readers and writers of the table wait for it. Raises StorageError."""
    return [
        f"{name}:{made}"
        for name, held in _divided(engine, tables).items()
        for made in _merge(engine, name, held, now.year - 1)
    ]


def _divided(engine: Engine, tables: Iterable[Table]) -> dict[str, dict[str, str]]:
    """Table name -> {partition: its first date that is no longer in it}, in the order of the dates."""
    if is_sqlite(engine):
        return {}
    wanted = [table for table in tables if has_months(table)]
    names = {table.name for table in wanted} | {table.history_name for table in wanted}
    found: dict[str, dict[str, str]] = {}
    rows = Sql(engine).rows(
        "SELECT table_name, partition_name, partition_description FROM information_schema.partitions "
        "WHERE table_schema=DATABASE() AND partition_name IS NOT NULL "
        "ORDER BY table_name, partition_ordinal_position"
    )
    for table, partition, limit in rows:
        if table in names:
            found.setdefault(str(table), {})[str(partition)] = str(limit).strip("'")
    return found


def _extend(engine: Engine, name: str, held: Mapping[str, str], today: date) -> list[str]:
    if AFTER not in held:
        return []
    limits = [limit for partition, limit in held.items() if partition != AFTER]
    this = today.year * 12 + today.month - 1
    begin = _month_number(limits[-1]) if limits else this - MONTHS_BACK
    months = range(begin, this + MONTHS_AHEAD + 1)
    if not months:
        return []
    new = {} if limits else {BEFORE: _first_day(begin)}
    new |= {f"m{_first_day(month)[:7].replace('-', '')}": _first_day(month + 1) for month in months}
    parts = [f"PARTITION {partition} VALUES LESS THAN ('{limit}')" for partition, limit in new.items()]
    _reorganize(engine, name, [AFTER], [*parts, _CLAUSE])
    return list(new)


def _merge(engine: Engine, name: str, held: Mapping[str, str], before_year: int) -> list[str]:
    made = []
    years = sorted({int(partition[1:5]) for partition in held if partition.startswith("m")})
    for year in (one for one in years if one < before_year):
        months = [partition for partition in held if partition.startswith(f"m{year}")]
        into = f"PARTITION y{year} VALUES LESS THAN ('{year + 1}-01-01')"
        _reorganize(engine, name, months, [into])
        made.append(f"y{year}")
    return made


def _reorganize(engine: Engine, name: str, old: list[str], new: list[str]) -> None:
    sql = Sql(engine)
    statement = f"ALTER TABLE {sql.name(name)} REORGANIZE PARTITION {', '.join(old)} INTO ({', '.join(new)})"
    with transaction(engine) as connection:
        connection.exec_driver_sql(statement)
    log.info("%s: partitions %s became %d", name, ", ".join(old), len(new))


def _month_number(day: str) -> int:
    return int(day[:4]) * 12 + int(day[5:7]) - 1


def _first_day(month: int) -> str:
    return f"{month // 12:04d}-{month % 12 + 1:02d}-01"
