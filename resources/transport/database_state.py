"""Transport state that the machines of a deployment share: a small table of the warehouse's database server.

For a warehouse on a server. Every call of an upstream costs two short transactions there; an embedded
warehouse has one machine, and its state stays in a file (`state.SqliteStore`).
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from core.errors import Deadlock, StorageError
from resources.transport.state import Document, Step, parsed
from resources.warehouse.engine import make_engine
from resources.warehouse.failures import storage_error
from resources.warehouse.sql import Sql

TABLE = "sys_transport_state"
_LOCK = ("lock", "step")
_KEY = ("kind", "name")
_COLUMNS = (*_KEY, "document")
_NOW = "UNIX_TIMESTAMP(SYSDATE(6))"
"""The moment after the lock was had; NOW() would be that of the statement's begin."""
WAIT_S = 10.0
TRIES = 3
"""A step whose connection was lost, or that the database ended, before it wrote anything is begun again."""


class DatabaseStore:
    """One row per document, and one row that each step locks first: steps follow each other, whichever
    machine takes them, and each sees what the one before it wrote."""

    def __init__(self, url: str, *, wait_s: float = WAIT_S) -> None:
        """`url`: SQLAlchemy URL of a server; a step waits `wait_s` seconds at most for another one."""
        self._url = url
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._pid = 0
        self._ahead = 0.0

    def now(self) -> float:
        """Seconds since the epoch by the database's clock, as the last step saw it: machines whose own clocks
        differ agree on when a breaker may close."""
        return time.time() + self._ahead

    @contextmanager
    def step(self) -> Iterator[Step]:
        """One indivisible block. Raises StorageError while the database is away."""
        with self._lock:
            connection = self._begun()
            try:
                changed: dict[tuple[str, str], Document] = {}
                yield _DatabaseStep(_stored(connection), changed)
                _write(connection, changed)
                connection.commit()
            except sa.exc.DBAPIError as error:
                raise _failed(error) from error
            finally:
                # What was not committed rolls back.
                connection.close()

    def close(self) -> None:
        with self._lock:
            if self._engine is not None and self._pid == os.getpid():
                self._engine.dispose()
            self._engine = None

    def _begun(self) -> Connection:
        """A connection that holds the lock row."""
        last: sa.exc.DBAPIError | None = None
        for _ in range(TRIES):
            connection: Connection | None = None
            try:
                connection = self._opened().connect()
                self._take(connection)
            except sa.exc.DBAPIError as error:
                if connection is not None:
                    connection.close()
                # Two that find no lock row yet wait for each other; the database ends one of them.
                if not (error.connection_invalidated or isinstance(storage_error(error), Deadlock)):
                    raise _failed(error) from error
                last = error
            else:
                return connection
        assert last is not None  # noqa: S101  the loop ends with a connection or an error
        raise _failed(last) from last

    def _opened(self) -> Engine:
        if self._engine is None or self._pid != os.getpid():
            # Of its own, with one connection: it neither waits for the pool of the writes nor takes from it.
            self._engine = make_engine(self._url, wait_s=self._wait_s, pool_size=1, max_overflow=0)
            self._pid = os.getpid()
        return self._engine

    def _take(self, connection: Connection) -> None:
        sql = Sql(connection.engine)
        statement = f"SELECT {_NOW} FROM {TABLE} WHERE kind=? AND name=? FOR UPDATE"
        found = sql.run(connection, statement, _LOCK).scalar()
        if found is None:
            connection.exec_driver_sql(sql.insert_absent(TABLE, _COLUMNS), (*_LOCK, "{}"))
            found = sql.run(connection, statement, _LOCK).scalar()
        if found is not None:
            self._ahead = float(found) - time.time()


class _DatabaseStep:
    """The documents as they were when the step began, and what it changes."""

    def __init__(
        self, stored: dict[tuple[str, str], Document], changed: dict[tuple[str, str], Document]
    ) -> None:
        self._stored = stored
        self._changed = changed

    def get(self, kind: str, name: str) -> Document | None:
        document = self._changed.get((kind, name), self._stored.get((kind, name)))
        return None if document is None else dict(document)

    def put(self, kind: str, name: str, document: Document) -> None:
        self._changed[(kind, name)] = dict(document)

    def all(self, kind: str) -> dict[str, Document]:
        held = {**self._stored, **self._changed}
        return {name: dict(document) for (of, name), document in held.items() if of == kind}


def _stored(connection: Connection) -> dict[tuple[str, str], Document]:
    rows = connection.exec_driver_sql(f"SELECT kind, name, document FROM {TABLE} WHERE kind<>'{_LOCK[0]}'")
    return {(kind, name): parsed(text) for kind, name, text in rows}


def _write(connection: Connection, changed: dict[tuple[str, str], Document]) -> None:
    if changed:
        rows = [(kind, name, json.dumps(document)) for (kind, name), document in changed.items()]
        connection.exec_driver_sql(Sql(connection.engine).upsert(TABLE, _COLUMNS, _KEY), rows)


def _failed(error: sa.exc.DBAPIError) -> StorageError:
    found = storage_error(error)
    return type(found)(f"transport state: {found.message}")
