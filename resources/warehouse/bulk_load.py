"""Many rows at once into a table of MariaDB or MySQL: LOAD DATA LOCAL with the rows in memory.

A statement with values costs PyMySQL a Python call for each of them. The text of a LOAD is made column by
column. No file is read on either side: the connection is opened with the capability alone, the driver's own
answer to a server that asks for a file stays off, and the rows are sent here instead.
"""

import logging
from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy.engine import Connection, Engine

from core.errors import StorageError
from resources.warehouse.failures import storage_error
from resources.warehouse.sql import Sql

log = logging.getLogger(__name__)
FEW = 300
"""Below this many rows a statement with values is as fast."""
_PACKET = 1 << 18
_REFUSED = frozenset({1044, 1142, 1148, 1227, 1290, 3948, 4166})
"""No right to make a temporary table, or LOAD DATA LOCAL is switched off."""
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"})
_NULL = "\\N"
_NUMBERS = frozenset({float, int, type(None)})


class Refused(StorageError):
    """The server took not all rows as they are, or none; the caller writes them by statements."""


class BulkLoad:
    """LOAD DATA LOCAL on one engine. One instance remembers that the server refuses it."""

    def __init__(self, engine: Engine) -> None:
        self._sql = Sql(engine)
        self._on = engine.dialect.name != "sqlite" and engine.driver == "pymysql"

    def pays(self, rows: int) -> bool:
        """Whether this many rows are loaded rather than sent as values."""
        return self._on and rows >= FEW

    def load(
        self,
        connection: Connection,
        table: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        replace: bool = False,
    ) -> None:
        """Insert rows, or with `replace` put them in the place of those with their keys. Raises Refused when
        the server does not take every row exactly as it is given (a LOAD warns where an INSERT fails): what
        it did take has to be rolled back."""
        verb = "REPLACE INTO" if replace else "INTO"
        statement = (
            f"LOAD DATA LOCAL INFILE 'rows' {verb} TABLE {self._sql.name(table)} CHARACTER SET utf8mb4 "
            f"({self._sql.names(columns)})"
        )
        driver: Any = connection.connection.driver_connection
        try:
            warnings = _send(driver, statement, text_of(rows))
        except connection.dialect.loaded_dbapi.Error as error:
            self.check(error)
            raise storage_error(error) from error
        if warnings:
            raise Refused(f"{table}: the server changed or left out rows of a LOAD")

    def check(self, error: BaseException) -> None:
        """Raise Refused for a driver's error that says that this account or server allows no loading; it is
        logged once, and no further write tries."""
        original = getattr(error, "orig", None) or error
        if next(iter(getattr(original, "args", ())), None) in _REFUSED:
            self._on = False
            log.warning(
                "the database refuses LOAD DATA LOCAL or temporary tables (%s); rows are written by slower "
                "statements: allow local_infile and CREATE TEMPORARY TABLES",
                original,
            )
            raise Refused(str(original)) from None


def _send(driver: Any, statement: str, text: bytes) -> int:
    """Send a LOAD and its rows; how many warnings the server has."""
    # The driver of this kind of database alone.
    from pymysql.constants import COMMAND  # noqa: PLC0415
    from pymysql.protocol import OKPacketWrapper  # noqa: PLC0415

    driver._execute_command(COMMAND.COM_QUERY, statement)
    if not driver._read_packet().is_load_local_packet():
        raise StorageError("the server did not ask for the rows of a LOAD")
    view = memoryview(text)
    for at in range(0, len(text), _PACKET):
        driver.write_packet(bytes(view[at : at + _PACKET]))
    driver.write_packet(b"")
    return int(OKPacketWrapper(driver._read_packet()).warning_count)


def text_of(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as LOAD DATA reads them: tab between values, a line each, backslash escapes."""
    columns = [_texts(values) for values in zip(*rows, strict=True)]
    lines = map("\t".join, zip(*columns, strict=True))
    return ("\n".join(lines) + "\n").encode() if columns else b""


def _texts(values: Sequence[Any]) -> list[str] | Sequence[str]:
    """One column as LOAD DATA reads it."""
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        # Written with the same shortest digits as by `repr`, ten times as fast.
        return orjson.dumps(values).decode()[1:-1].replace("null", _NULL).split(",")
    if kinds == {str} and _plain("".join(values)):
        return values
    known = {value: _text(value) for value in set(values)}
    return [known[value] for value in values]


def _plain(text: str) -> bool:
    """Whether nothing in it is escaped: no backslash, tab or end of a line."""
    return text.isprintable() and "\\" not in text


def _text(value: Any) -> str:
    if value is None:
        return _NULL
    if isinstance(value, str):
        return value.translate(_ESCAPED)
    return str(int(value)) if isinstance(value, bool) else repr(value)
