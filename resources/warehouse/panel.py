"""A market window as dense arrays [codes, dates]: the input of calculations over a year of the whole market.

Values go from the driver straight into one float64 block; no frame, no object column, no row that
outlives its conversion. A code without a row on a date holds NaN there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.engine import Connection

from core.arrays import Floats
from core.declaration.conditions import Condition, as_sql
from core.declaration.tables import Table
from core.errors import InputError
from resources.warehouse.failures import storage_error
from resources.warehouse.reads import codes_along_key
from resources.warehouse.warehouse import Warehouse

Days = npt.NDArray[np.int32]
_NUMBERS = frozenset({"float", "int", "bool"})
_GROUP_BYTES = 64 * 1024 * 1024
"""Room for the bars of one code in MariaDB's GROUP_CONCAT; the default truncates at 1 MB without an error."""


@dataclass(frozen=True)
class Panel:
    """`values[column]` is float64 [len(codes), len(dates)]; codes and dates ascend."""

    codes: tuple[str, ...]
    dates: tuple[str, ...]
    values: dict[str, Floats]

    def __getitem__(self, column: str) -> Floats:
        return self.values[column]


def read_panel(
    warehouse: Warehouse,
    name: str,
    columns: Sequence[str],
    *,
    since: str,
    until: str,
    conditions: Sequence[Condition] = (),
) -> Panel:
    """Current rows of `name` with since <= date <= until that meet the conditions, from the warehouse alone;
    `resources.lake.panel` reads from the lake what is published.

    Raises InputError for a table without (code, date) key or a column that holds no numbers.
    """
    table = series_of(warehouse, name, columns)
    with warehouse.connect() as connection, connection.begin():
        codes, blocks = code_blocks(connection, table, columns, since, until, conditions)
    return _scattered(codes, blocks, columns)


def series_of(warehouse: Warehouse, name: str, columns: Sequence[str]) -> Table:
    """The table of a panel. Raises InputError for one that makes none of these columns."""
    table = warehouse.table(name)
    if table.date_column is None or table.key != ("code", table.date_column):
        raise InputError("name", f"{name} is no series by code and date")
    for column in columns:
        if table.column(column).family not in _NUMBERS:
            raise InputError("columns", f"{name}.{column} holds no numbers")
    return table


def code_blocks(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    since: str,
    until: str,
    conditions: Sequence[Condition],
) -> tuple[list[str], list[Floats]]:
    """(codes, per code a block [rows, 1 + columns] whose first column is the day number, see `day_of`)."""
    raw: Any = connection.connection.driver_connection
    read = _from_sqlite if connection.dialect.name == "sqlite" else _from_mariadb
    try:
        return read(raw, table, columns, since, until, conditions)
    except connection.dialect.loaded_dbapi.Error as error:
        raise storage_error(error) from error


def _condition(
    table: Table, since: str, until: str, conditions: Sequence[Condition], mark: str
) -> tuple[str, tuple[Any, ...]]:
    both = f"{table.date_column}>={mark} AND {table.date_column}<={mark}"
    clause, values = as_sql(conditions, mark)
    return (f"{both} AND {clause}" if clause else both), (since, until, *values)


def _from_sqlite(
    raw: Any, table: Table, columns: Sequence[str], since: str, until: str, conditions: Sequence[Condition]
) -> tuple[list[str], list[Floats]]:
    """The blocks on SQLite, by Julian days.

    One range scan of the clustered key per code: the date index would fetch every row singly, a scan of the
    table would read all the years before the window.
    """
    width = len(columns) + 1
    names = ", ".join(f'"{column}"' for column in columns)
    listed = raw.execute(codes_along_key(f'"{table.name}"')).fetchall()
    where, values = _condition(table, since, until, conditions, "?")
    statement = (
        f'SELECT julianday("{table.date_column}"), {names} FROM "{table.name}" '
        f'WHERE code=? AND {where} ORDER BY "{table.date_column}"'
    )
    codes: list[str] = []
    blocks: list[Floats] = []
    cursor = raw.cursor()
    for (code,) in listed:
        rows = cursor.execute(statement, (code, *values))
        block = np.fromiter(chain.from_iterable(rows), dtype=np.float64)
        if len(block):
            codes.append(code)
            blocks.append(block.reshape(-1, width))
    return codes, blocks


def _from_mariadb(
    raw: Any, table: Table, columns: Sequence[str], since: str, until: str, conditions: Sequence[Condition]
) -> tuple[list[str], list[Floats]]:
    """The blocks on MariaDB, by days since year 0: the server joins the rows of a code to one text, which
    numpy parses. It writes every double with the digits of the ordinary protocol."""
    where, values = _condition(table, since, until, conditions, "%s")
    width = len(columns) + 1
    parts = ", ".join(f"IFNULL(`{column}`, 'nan')" for column in columns)
    codes: list[str] = []
    blocks: list[Floats] = []
    with raw.cursor() as cursor:
        cursor.execute(f"SET SESSION group_concat_max_len={_GROUP_BYTES}")
        cursor.execute(
            f"SELECT code, GROUP_CONCAT(CONCAT_WS(',', TO_DAYS(`{table.date_column}`), {parts}) "
            f"ORDER BY `{table.date_column}`) FROM `{table.name}` WHERE {where} GROUP BY code ORDER BY code",
            values,
        )
        for code, text in cursor.fetchall():
            codes.append(code)
            blocks.append(np.fromstring(text, dtype=np.float64, sep=",").reshape(-1, width))
    return codes, blocks


def _scattered(codes: Sequence[str], blocks: Sequence[Floats], columns: Sequence[str]) -> Panel:
    """Put rows in their places; gaps of a code stay NaN."""
    days = np.unique(np.concatenate([block[:, 0] for block in blocks])) if blocks else np.empty(0)
    values = {column: np.full((len(codes), len(days)), np.nan) for column in columns}
    for row, block in enumerate(blocks):
        place: Any = slice(None) if len(block) == len(days) else np.searchsorted(days, block[:, 0])
        for at, column in enumerate(columns, start=1):
            values[column][row, place] = block[:, at]
    return Panel(tuple(codes), iso_days(day_of(days)), values)


def day_of(days: Floats) -> Days:
    """Day numbers of either engine as days since 1970: Julian days (x.5), or days since year 0."""
    julian = bool(len(days)) and bool(days[0] % 1)
    return np.round(days - (2440587.5 if julian else 719528.0)).astype(np.int32)


def iso_days(days: Days) -> tuple[str, ...]:
    """Days since 1970 as ISO dates."""
    return tuple(days.astype("datetime64[D]").astype(str).tolist())
