"""How the API reads the warehouse: point reads where they are fastest, everything else off the loop.

SQLite answers a point read in well under a millisecond, less than a hand-over to a thread costs, so it
runs on the event loop over one read-only connection per thread. MariaDB, and every long read, goes to a
bounded thread pool.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar, cast

import anyio
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.declaration.conditions import Condition
from core.declaration.tables import Table
from core.errors import StorageError
from resources.warehouse import reads
from resources.warehouse.engine import transaction
from resources.warehouse.failures import storage_error
from resources.warehouse.panel import Panel
from resources.warehouse.sql import Sql, marks
from resources.warehouse.warehouse import Warehouse
from serving_api.db.adjusted_reads import Ledger, adjusted_columns

READ_THREADS = 16
CODES_AT_ONCE = 400
"""Codes that one statement names: either engine takes more, neither is faster by it."""

T = TypeVar("T")
Of = Mapping[str, Any]
"""Column, or column and sign ("date>="), of our code -> the value that rows hold in it. A list is one of its
values. Where the key ends in "?" ("date>=?"), None is any value; elsewhere None is an error of ours."""


class _Result(sqlite3.Cursor):
    """An sqlite3 cursor with the one attribute of a SQLAlchemy result that the reads use."""

    @property
    def cursor(self) -> sqlite3.Cursor:
        return self


class _Dialect:
    loaded_dbapi = sqlite3


class SqliteConnection:
    """The two members of a SQLAlchemy connection that `resources.warehouse.reads` uses, over sqlite3.

    Every cached response asks for the version of the file first: 2 us here, 15 us over SQLAlchemy; 120 bars
    take 60 us instead of 84 us. `make bench` (`shortcuts`) measures both. Everything else, and MariaDB, goes
    through SQLAlchemy's pool (`Reading.scan`).
    """

    dialect = _Dialect

    def __init__(self, handle: sqlite3.Connection) -> None:
        self.handle = handle

    def exec_driver_sql(self, statement: str, values: Sequence[Any] = ()) -> _Result:
        return self.handle.cursor(_Result).execute(statement, tuple(values))


def code_clauses(codes: Sequence[str], key: str = "code") -> Iterator[tuple[str, tuple[str, ...]]]:
    """(condition that names some of the codes, these codes), for as many statements as that takes."""
    for at in range(0, len(codes), CODES_AT_ONCE):
        some = tuple(codes[at : at + CODES_AT_ONCE])
        yield f"{key} IN ({marks(some)})", some


def condition(of: Of, where: str = "", values: Sequence[Any] = ()) -> tuple[str, tuple[Any, ...]]:
    """(condition, its values) for the rows `of` some values; `where` and its `values` come after them."""
    clauses: list[str] = []
    bound: list[Any] = []
    for key, value in of.items():
        column = key.removesuffix("?")
        if value is None:
            if column == key:
                raise TypeError(f"{key} is None; a condition that may be left out is named {key}?")
            continue
        some = list(value) if isinstance(value, list | tuple) else [value]
        if not some:  # MariaDB knows no empty list
            clauses.append("1=0")
            continue
        sign = "" if column[-1] in "<>=" else "=" if len(some) == 1 else " IN "
        clauses.append(f"{column}{sign}({marks(some)})" if sign == " IN " else f"{column}{sign}?")
        bound += some
    return " AND ".join([*clauses, *([where] if where else [])]), (*bound, *values)


def _bound(of: Of | None, how: dict[str, Any]) -> dict[str, Any]:
    if of is None:
        return how
    where, values = condition(of, how.pop("where", ""), how.pop("values", ()))
    return {**how, "where": where, "values": values}


class Session:
    """Reads of declared tables over one connection."""

    def __init__(self, warehouse: Warehouse, connection: Connection, ledger: Ledger | None = None) -> None:
        self._warehouse = warehouse
        self._connection = connection
        self._ledger = ledger or Ledger()

    def has(self, table: str) -> bool:
        return table in self._warehouse.tables

    def table(self, name: str) -> Table:
        """The declaration of a table. Raises StorageError for one that this warehouse does not have: its
        reads give what they give without a database."""
        if not self.has(name):
            raise StorageError(f"there is no table {name}")
        return self._warehouse.table(name)

    def columns(self, table: str, requested: Sequence[str]) -> list[str]:
        """Those of `requested` that the declaration has."""
        declared = self._warehouse.table(table).names
        return [name for name in requested if name in declared]

    def rows(self, table: str, of: Of | None = None, **how: Any) -> list[tuple[Any, ...]]:
        """Tuples of `reads.select_rows`; an undeclared table has no rows."""
        if not self.has(table):
            return []
        declared, how = self._warehouse.table(table), _bound(of, how)
        found = reads.select_rows(self._connection, self._warehouse.sql, declared, **how)
        if adjusted_columns(table):
            columns = tuple(how.get("columns") or declared.names)
            at = {name: place for place, name in enumerate(columns)}
            self._note(declared, columns, found, at, how)
        return found

    def first(self, table: str, column: str, of: Of | None = None, **how: Any) -> str | None:
        """The first value of a column as text; None without a row, or where it is null."""
        rows = self.rows(table, of, columns=(column,), limit=1, **how)
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def dicts(self, table: str, of: Of | None = None, **how: Any) -> list[dict[str, Any]]:
        """Dictionaries of `reads.select_dicts`; flags are bool."""
        if not self.has(table):
            return []
        declared, how = self._warehouse.table(table), _bound(of, how)
        found = reads.select_dicts(self._connection, self._warehouse.sql, declared, **how)
        if adjusted_columns(table):
            columns = tuple(how.get("columns") or declared.names)
            self._note(declared, columns, found, {name: name for name in columns}, how)
        return found

    def _note(
        self, table: Table, columns: Sequence[str], rows: Sequence[Any], at: Mapping[str, int | str],
        how: Mapping[str, Any],
    ) -> None:  # fmt: skip
        code, day = at.get("code"), at.get(table.date_column or "")
        by = f"{how.get('where', '')} {how.get('order', '')}"
        values, as_of = how.get("values", ()), how.get("as_of")
        self._ledger.note_rows(table.name, columns, rows, code, day, by, values, as_of, self._held)

    def note(self, table: str, columns: Sequence[str], codes: Sequence[str] | None = None) -> None:
        """Note columns that a statement of `run` read, of some codes or of each that the table has."""
        ledger = self._ledger
        shown = self._held(table, ledger.provisional(None).keys()) if codes is None else codes
        ledger.note_codes(table, columns, shown, None)

    def _held(self, table: str, codes: Set[str]) -> Set[str]:
        """Those of some codes that a table has rows of; all of them where its rows have no code."""
        if not self.has(table) or "code" not in self._warehouse.table(table).names:
            return codes
        found: set[str] = set()
        for clause, some in code_clauses(sorted(codes)):
            statement = self.sql.text(f"SELECT DISTINCT code FROM {self.sql.name(table)} WHERE {clause}")
            found.update(code for (code,) in self._connection.exec_driver_sql(statement, some))
        return found

    def count(self, table: str, of: Of, where: str = "", values: Sequence[Any] = ()) -> int:
        """Number of rows."""
        clause, bound = condition(of, where, values)
        clause = f" WHERE {clause}" if clause else ""
        return int(self.run(f"SELECT COUNT(*) FROM {self.sql.name(table)}{clause}", bound)[0][0])

    def of_codes(
        self,
        table: str,
        codes: Sequence[str],
        *,
        columns: Sequence[str],
        where: str = "",
        values: Sequence[Any] = (),
        key: str = "code",
        **how: Any,
    ) -> list[tuple[Any, ...]]:
        """`rows` of some codes, a few hundred of them in a statement. `where` and its `values` come on top;
        an order holds within a statement only."""
        found: list[tuple[Any, ...]] = []
        for clause, some in code_clauses(codes, key):
            condition = f"{where} AND {clause}" if where else clause
            found += self.rows(table, columns=columns, where=condition, values=(*values, *some), **how)
        return found

    def panel(
        self,
        table: str,
        columns: Sequence[str],
        *,
        since: str,
        until: str,
        conditions: Sequence[Condition] = (),
        as_of: str | None = None,
    ) -> Panel:
        """Numbers of a stored series of the whole market, as they are or as they were known; over a
        connection of its own."""
        # Loads pyarrow and deltalake, which most reads do not need.
        from resources.lake.panel import read_panel  # noqa: PLC0415

        panel = read_panel(
            self._warehouse, table, columns, since=since, until=until, conditions=conditions, as_of=as_of
        )
        self._ledger.note_codes(table, columns, panel.codes, as_of, until)
        return panel

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A SELECT of ours with `?` marks, for what the reads above cannot say (counts, groups). Whoever
        reads a column of adjusted prices by it says so (`note`)."""
        text = self._warehouse.sql.text(statement)
        return [tuple(row) for row in self._connection.exec_driver_sql(text, tuple(values))]

    @property
    def sql(self) -> Sql:
        """Dialect differences of the statements that `run` takes."""
        return self._warehouse.sql

    def data_version(self) -> int:
        """SQLite only: a number that moves when another connection commits."""
        return int(next(iter(self._connection.exec_driver_sql("PRAGMA data_version")))[0])

    def ping(self) -> None:
        list(self._connection.exec_driver_sql("SELECT 1"))


def write(warehouse: Warehouse, work: Callable[..., T], *args: Any, **how: Any) -> T:
    """The result of `work(connection, sql, *args)` in a transaction of its own."""
    with transaction(warehouse.engine) as connection:
        return work(connection, warehouse.sql, *args, **how)


class _OfThread(threading.local):
    """The connection of a thread."""

    session: Session | None = None


class Reading:
    """Runs functions that take a Session first. Raises StorageError when the database is away."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse
        self.ledger = Ledger()
        self.inline = warehouse.sqlite
        self._local = _OfThread()
        self._handles: list[sqlite3.Connection] = []
        self._opened = 0
        self._limiter: anyio.CapacityLimiter | None = None

    async def point(self, work: Callable[..., T], *args: Any) -> T:
        """A read of a few rows by key."""
        if not self.inline:
            return await self.scan(work, *args)
        return self.now(work, *args)

    async def scan(self, work: Callable[..., T], *args: Any) -> T:
        """A read that may take longer than a millisecond; one consistent snapshot."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(READ_THREADS)
        return await anyio.to_thread.run_sync(self._pooled, work, args, limiter=self._limiter)

    def data_version(self) -> tuple[int, int]:
        """(connections that were opened, `Session.data_version` of this thread's): differs when anything was
        committed. Numbers of two connections say nothing about each other. SQLite only."""
        number = self.now(Session.data_version)
        return self._opened, number

    def _forget(self) -> None:
        """A handle that failed may belong to a file that was replaced: the next read opens a new one."""
        self._local.session = None

    def now(self, work: Callable[..., T], *args: Any) -> T:
        """SQLite only: on this thread, over its own connection."""
        try:
            return work(self._session(), *args)
        except (sqlite3.Error, sa.exc.DBAPIError) as error:
            self._forget()
            raise storage_error(error) from error

    def _session(self) -> Session:
        session = self._local.session
        if session is None:
            proxied = self.warehouse.engine.raw_connection()
            handle = cast(sqlite3.Connection, proxied.driver_connection)
            proxied.detach()
            self._handles.append(handle)
            self._opened += 1
            connection = cast(Connection, SqliteConnection(handle))
            session = Session(self.warehouse, connection, self.ledger)
            self._local.session = session
        return session

    def _pooled(self, work: Callable[..., T], args: tuple[Any, ...]) -> T:
        with self.warehouse.connect() as connection:
            return work(Session(self.warehouse, connection, self.ledger), *args)

    def close(self) -> None:
        """Close every connection; a later read opens a new one."""
        self.warehouse.close()
        self._local = _OfThread()
        while self._handles:
            self._handles.pop().close()
