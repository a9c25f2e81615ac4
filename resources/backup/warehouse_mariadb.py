"""The warehouse in MariaDB or MySQL: rows read by the platform's own driver from one consistent snapshot.

A dump tool would have to be installed in the server's version and be given the password, and what the
manifest says could not come from the same snapshot. One file per table: a line with its definition, a line (a
JSON array) per row, a line with the number of rows; compressed with zstd.
"""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import zstandard
from sqlalchemy.engine import Connection

from core.clock import SystemClock, stamp
from resources.backup.data_files import make_private
from resources.backup.manifest import BackupError, Manifest, StoredFile, WarehouseState, describe
from resources.backup.warehouse_sqlite import state_of
from resources.settings import Settings
from resources.warehouse.engine import make_engine
from resources.warehouse.failures import storage_error

ENGINE = "mariadb"
_FOLDER = "warehouse"
_SUFFIX = ".jsonl.zst"
_OF_A_RESTORE = re.compile(r"^(?:restore|replaced)_\d{10}_")
_ROWS = 1_000
"""Rows of one INSERT."""


@contextmanager
def _connected(settings: Settings, isolation: str) -> Iterator[Connection]:
    """A connection of its own. Raises StorageError."""
    engine = make_engine(settings.warehouse_address, pool_size=1, max_overflow=0)
    try:
        with engine.connect().execution_options(isolation_level=isolation) as connection:
            yield connection
    except sa.exc.DBAPIError as error:
        raise storage_error(error) from error
    finally:
        engine.dispose()


def _all_tables(connection: Connection) -> list[str]:
    query = (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
        "AND table_type = 'BASE TABLE' ORDER BY table_name"
    )
    return [str(name) for name in connection.exec_driver_sql(query).scalars()]


def _tables(connection: Connection) -> list[str]:
    """The tables, without those that a restore has staged or set aside."""
    return [name for name in _all_tables(connection) if not _OF_A_RESTORE.match(name)]


# -- backup -------------------------------------------------------------------------------------------


def copy_warehouse(settings: Settings, folder: Path) -> tuple[WarehouseState, list[StoredFile]]:
    """Copy every table into a backup, all from one snapshot, while others write. Raises BackupError when the
    database has no warehouse, StorageError."""
    taken_at = stamp(SystemClock().now())
    with _connected(settings, "REPEATABLE READ") as connection:
        connection.exec_driver_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        tables = _tables(connection)
        if "sys_batch" not in tables:
            raise BackupError(f"{settings.warehouse_variables}: the database holds no warehouse")

        def ask(query: str) -> list[tuple[object, ...]]:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

        state = state_of(ask, ENGINE, taken_at)
        files = [_copy_table(connection, table, folder) for table in tables]
    return state, files


def _copy_table(connection: Connection, table: str, folder: Path) -> StoredFile:
    name = f"{_FOLDER}/{table}{_SUFFIX}"
    make_private(folder / name)
    definition = connection.exec_driver_sql(f"SHOW CREATE TABLE `{table}`").one()[1]
    count = 0
    with (
        (folder / name).open("wb") as file,
        zstandard.ZstdCompressor(level=3).stream_writer(file) as out,
        connection.execution_options(stream_results=True).exec_driver_sql(f"SELECT * FROM `{table}`") as rows,
    ):
        out.write(_line({"table": table, "create": definition, "columns": list(rows.keys())}))
        for row in rows:
            out.write(_line(list(row)))
            count += 1
        out.write(_line({"rows": count}))
    return describe(folder / name, name, 0o600)


def _line(content: Any) -> bytes:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.encode() + b"\n"


def _plain(value: Any) -> Any:
    """JSON for what the driver returns and JSON lacks: bytes as hex, exact numbers as their digits."""
    return {"hex": value.hex()} if isinstance(value, bytes) else str(value)


# -- restore ------------------------------------------------------------------------------------------


class MariadbSwap:
    """The tables of the warehouse replaced by those of a backup. They are loaded under names of their own in
    the same database (an account often has no right to another one); then one RENAME TABLE, which the server
    does as a whole, sets the old ones aside and puts the new ones in their place."""

    _marker = "_"
    """An empty table that is renamed with the others: where it is says whether they were."""

    def __init__(self, settings: Settings, stamp: str) -> None:
        self._settings = settings
        self._staged = f"restore_{stamp}_"
        self._aside = f"replaced_{stamp}_"

    def occupied(self) -> str:
        with _connected(self._settings, "READ COMMITTED") as connection:
            return f"tables in {self._settings.warehouse_variables}" if _tables(connection) else ""

    def stage(self, source: Path, manifest: Manifest) -> None:
        """Load every table beside the old ones. Raises StorageError, BackupError."""
        names = [Path(file.path) for file in manifest.files if file.path.startswith(f"{_FOLDER}/")]
        with _connected(self._settings, "READ COMMITTED") as connection:
            mode = "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO', unique_checks=0"
            connection.exec_driver_sql(mode)
            connection.exec_driver_sql(f"CREATE TABLE `{self._staged}{self._marker}` (id INT)")
            for name in names:
                _load_table(connection, source / name, self._staged)

    def swap(self) -> None:
        with _connected(self._settings, "READ COMMITTED") as connection:
            self._exchange(connection, self._staged, self._aside)

    def undo(self) -> None:
        """The old tables back in their place; the new ones are staged again."""
        with _connected(self._settings, "READ COMMITTED") as connection:
            if self._marker in self._with(connection, self._aside):
                self._exchange(connection, self._aside, self._staged)

    def _exchange(self, connection: Connection, new: str, old: str) -> None:
        """The tables with the prefix `new` in the place of those that are there, which get the prefix `old`;
        the marker goes the same way."""
        moves = [(name, old + name) for name in _tables(connection)]
        moves += [(new + name, name) for name in self._with(connection, new) if name != self._marker]
        moves.append((new + self._marker, old + self._marker))
        parts = ", ".join(f"`{before}` TO `{after}`" for before, after in moves)
        connection.exec_driver_sql(f"RENAME TABLE {parts}")

    def clear(self) -> None:
        with _connected(self._settings, "READ COMMITTED") as connection:
            left = [self._staged + name for name in self._with(connection, self._staged)]
            for name in (*left, self._aside + self._marker):
                connection.exec_driver_sql(f"DROP TABLE IF EXISTS `{name}`")

    def aside(self) -> str:
        with _connected(self._settings, "READ COMMITTED") as connection:
            return f"tables {self._aside}* of the warehouse" if self._with(connection, self._aside) else ""

    def _with(self, connection: Connection, prefix: str) -> list[str]:
        return [name.removeprefix(prefix) for name in _all_tables(connection) if name.startswith(prefix)]


def _load_table(connection: Connection, path: Path, prefix: str) -> None:
    """Make the table of a file under a name with this prefix, and fill it."""
    with (
        path.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as reader,
        io.TextIOWrapper(reader, encoding="utf-8", newline="\n") as lines,
    ):
        head = json.loads(next(lines))
        table, columns = head["table"], head["columns"]
        begin = f"CREATE TABLE `{table}`"
        if not head["create"].startswith(begin):
            raise BackupError(f"FROM: {path} does not begin with the definition of its table")
        # Handed over as one text without values: a % in a comment is no mark.
        made = head["create"].replace(begin, f"CREATE TABLE `{prefix}{table}`", 1)
        connection.exec_driver_sql(made.replace("%", "%%"))
        given = ", ".join(f"`{name}`" for name in columns)
        marks = ", ".join(["%s"] * len(columns))
        insert = f"INSERT INTO `{prefix}{table}` ({given}) VALUES ({marks})"
        expected = -1
        while contents := [json.loads(line) for line in islice(lines, _ROWS)]:
            if isinstance(contents[-1], dict):
                expected = contents.pop()["rows"]
            if contents:
                connection.exec_driver_sql(insert, [tuple(map(_value, row)) for row in contents])
        connection.commit()
        found = connection.exec_driver_sql(f"SELECT COUNT(*) FROM `{prefix}{table}`").scalar_one()
        connection.commit()
    if found != expected:
        raise BackupError(f"FROM: {path} has {expected} rows, {found} were loaded")


def _value(stored: Any) -> Any:
    return bytes.fromhex(stored["hex"]) if isinstance(stored, dict) else stored
