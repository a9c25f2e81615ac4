"""How the API reads the warehouse: point reads where they are fastest, everything else off the loop.

SQLite answers a point read in well under a millisecond, less than a hand-over to a thread costs, so it
runs on the event loop over one read-only connection per thread. MariaDB, and every long read, goes to a
bounded thread pool.
"""

import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, cast

import anyio
import sqlalchemy as sa
from sqlalchemy.engine import Connection, CursorResult

from core.declaration.conditions import Condition
from core.declaration.tables import Table
from core.errors import MissingTable
from resources.warehouse import reads
from resources.warehouse.engine import transaction
from resources.warehouse.failures import storage_error
from resources.warehouse.panel import Panel
from resources.warehouse.reads import Selection
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, Where, select
from resources.warehouse.warehouse import Warehouse
from serving_api.db.adjusted_reads import Ledger, adjusted_columns
from serving_api.db.old_rows import old_versions, with_old_rows

READ_THREADS = 16
CODES_AT_ONCE = 400
"""Codes that one statement names: either engine takes more, neither is faster by it."""

_MARK = re.compile(r"%(\(\w+\))?s")
T = TypeVar("T")
P = ParamSpec("P")


def parts_of(codes: Sequence[str]) -> Iterator[Sequence[str]]:
    """The codes of each statement, for as many statements as that takes."""
    for at in range(0, len(codes), CODES_AT_ONCE):
        yield codes[at : at + CODES_AT_ONCE]


class Session:
    """Reads of declared tables over one connection."""

    def __init__(self, warehouse: Warehouse, connection: Connection, ledger: Ledger | None = None) -> None:
        self._warehouse = warehouse
        self._connection = connection
        self._ledger = ledger or Ledger()

    def has(self, table: str) -> bool:
        return table in self._warehouse.tables

    def table(self, name: str) -> Table:
        """The declaration of a table. Raises MissingTable for one that this warehouse does not have: its
        reads give what they give without a database."""
        if not self.has(name):
            raise MissingTable(f"there is no table {name}")
        return self._warehouse.table(name)

    def columns(self, table: str, requested: Sequence[str]) -> list[str]:
        """Those of `requested` that the declaration has."""
        declared = self._warehouse.table(table).names
        return [name for name in requested if name in declared]

    def rows(self, table: str, *where: Where, **how: Unpack[Selection]) -> list[tuple[Any, ...]]:
        """Tuples of `reads.select_rows`; an undeclared table has no rows."""
        if not self.has(table):
            return []
        declared = self._warehouse.table(table)
        result = self._connection.execute(*reads.selection(declared, *where, **how))
        rows = with_old_rows(self._warehouse, declared, reads.driver_rows(result), where, **how)
        if adjusted_columns(table):
            columns = tuple(how.get("columns") or declared.names)
            at = {name: place for place, name in enumerate(columns)}
            code, day = at.get("code"), at.get(declared.date_column or "")
            as_of = how.get("as_of")
            self._ledger.note_rows(table, columns, rows, code, day, partial(_sent, result), as_of, self._held)
        return rows

    def old_versions(self, table: Table, key: Mapping[str, Any]) -> list[dict[str, Any]]:
        """`old_rows.old_versions` of a row."""
        return old_versions(self._warehouse, table, key)

    def first(self, table: str, column: str, *where: Where, **how: Unpack[Selection]) -> str | None:
        """The first value of a column as text; None without a row, or where it is null."""
        first: Selection = {**how, "columns": (column,), "limit": 1}
        rows = self.rows(table, *where, **first)
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def dicts(self, table: str, *where: Where, **how: Unpack[Selection]) -> list[dict[str, Any]]:
        """`rows` as dictionaries; flags are bool."""
        rows = self.rows(table, *where, **how)
        return reads.as_dicts(self._warehouse.table(table), how.get("columns"), rows) if rows else []

    def note(self, table: str, columns: Sequence[str], codes: Sequence[str] | None = None) -> None:
        """Note columns that a statement of `run` read, of some codes or of each that the table has."""
        ledger = self._ledger
        shown = self._held(table, ledger.provisional(None).keys()) if codes is None else codes
        ledger.note_codes(table, columns, shown, None)

    def _held(self, table: str, codes: Set[str]) -> Set[str]:
        """Those of some codes that a table has rows of; all of them where its rows have no code."""
        if not self.has(table) or "code" not in self._warehouse.table(table).names:
            return codes
        statement = select(table, ANY.code).distinct()
        parts = [statement.where(ANY.code.in_(part)) for part in parts_of(sorted(codes))]
        return {code for part in parts for code in self._connection.scalars(part)}

    def count(self, table: str, *where: Where) -> int:
        """Number of rows."""
        return int(self.run(select(table, sa.func.count()).where(*where))[0][0])

    def of_codes(
        self, table: str, codes: Sequence[str], *where: Where, **how: Unpack[Selection]
    ) -> list[tuple[Any, ...]]:
        """`rows` of some codes, a few hundred of them in a statement. An order holds within a statement
        only."""
        parts = (self.rows(table, *where, ANY.code.in_(part), **how) for part in parts_of(codes))
        return [row for part in parts for row in part]

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

    def run(self, statement: str | sa.Select[Any], values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A SELECT, for what the reads above cannot say (counts, groups); text with `?` marks for what
        SQLAlchemy cannot say. Whoever reads a column of adjusted prices by it says so (`note`)."""
        return reads.driver_rows(self.sql.run(self._connection, statement, tuple(values)))

    @property
    def sql(self) -> Sql:
        """Dialect differences of the statements that `run` takes."""
        return self._warehouse.sql

    def data_version(self) -> int:
        """SQLite only: a number that moves when another connection commits."""
        driver = cast(sqlite3.Connection, self._connection.connection.dbapi_connection)
        return int(driver.execute("PRAGMA data_version").fetchone()[0])

    def ping(self) -> None:
        self._connection.scalar(sa.select(1))


def _sent(result: CursorResult[Any]) -> tuple[str, tuple[Any, ...]]:
    """(text, values) of the statement that was sent, with `?` marks on either engine."""
    sent: Any = result.context
    values = sent.parameters[0] if sent.parameters else ()
    return _MARK.sub("?", sent.statement), tuple(values.values() if isinstance(values, dict) else values)


Work = Callable[Concatenate[Session, P], T]
"""A function that takes a Session first."""


def write(
    warehouse: Warehouse, work: Callable[Concatenate[Connection, Sql, P], T], *args: P.args, **how: P.kwargs
) -> T:
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
        self._connections: list[Connection] = []
        self._opened = 0
        self._limiter: anyio.CapacityLimiter | None = None

    async def point(self, work: Work[P, T], *args: P.args, **how: P.kwargs) -> T:
        """A read of a few rows by key."""
        if not self.inline or self.warehouse.may_have_old_years:
            return await self.scan(work, *args, **how)
        return self.now(work, *args, **how)

    async def scan(self, work: Work[P, T], *args: P.args, **how: P.kwargs) -> T:
        """A read that may take longer than a millisecond; one consistent snapshot."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(READ_THREADS)

        def read(session: Session) -> T:
            return work(session, *args, **how)

        return await anyio.to_thread.run_sync(self._pooled, read, limiter=self._limiter)

    def data_version(self) -> tuple[int, int]:
        """(connections that were opened, `Session.data_version` of this thread's): differs when anything was
        committed. Numbers of two connections say nothing about each other. SQLite only."""
        number = self.now(Session.data_version)
        return self._opened, number

    def _forget(self) -> None:
        """A handle that failed may belong to a file that was replaced: the next read opens a new one."""
        self._local.session = None

    def now(self, work: Work[P, T], *args: P.args, **how: P.kwargs) -> T:
        """SQLite only: on this thread, over its own connection."""
        try:
            return work(self._session(), *args, **how)
        except (sqlite3.Error, sa.exc.DBAPIError) as error:
            self._forget()
            raise storage_error(error) from error

    def _session(self) -> Session:
        session = self._local.session
        if session is None:
            # Outside of transactions each statement sees what was committed before it.
            connection = self.warehouse.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()
            self._connections.append(connection)
            self._opened += 1
            session = Session(self.warehouse, connection, self.ledger)
            self._local.session = session
        return session

    def _pooled(self, work: Callable[[Session], T]) -> T:
        with self.warehouse.connect() as connection:
            return work(Session(self.warehouse, connection, self.ledger))

    def close(self) -> None:
        """Close every connection; a later read opens a new one."""
        self.warehouse.close()
        self._local = _OfThread()
        while self._connections:
            self._connections.pop().close()
