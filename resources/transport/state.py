"""Where a gate keeps what it knows: in memory, or in one SQLite file that all processes of a machine share.
What several machines share is in `database_state`.

All stores hold small JSON documents by (kind, name) and run a block of reads and writes as one
indivisible step; the rules live in `gates`, so that they are the same for all.
"""

import errno
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from core.errors import DiskFull, StorageError

Document = dict[str, Any]


class Step(Protocol):
    """One indivisible block of reads and writes."""

    def get(self, kind: str, name: str) -> Document | None: ...

    def put(self, kind: str, name: str, document: Document) -> None: ...

    def all(self, kind: str) -> dict[str, Document]: ...


class Store(Protocol):
    @contextmanager
    def step(self) -> Iterator[Step]: ...

    def close(self) -> None: ...


class MemoryStore:
    """State of one process, behind a lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._documents: dict[tuple[str, str], Document] = {}

    @contextmanager
    def step(self) -> Iterator[Step]:
        with self._lock:
            yield self

    def close(self) -> None:
        return None

    def get(self, kind: str, name: str) -> Document | None:
        document = self._documents.get((kind, name))
        return None if document is None else dict(document)

    def put(self, kind: str, name: str, document: Document) -> None:
        self._documents[(kind, name)] = dict(document)

    def all(self, kind: str) -> dict[str, Document]:
        return {name: dict(doc) for (held, name), doc in self._documents.items() if held == kind}


_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS gate_state ("
    "kind TEXT NOT NULL, name TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
)


class SqliteStore:
    """State of the machine: one file, WAL, `BEGIN IMMEDIATE` around every step.

    One connection per process, opened at first use and again after a fork (SQLite connections must
    not cross one).
    """

    def __init__(self, path: Path, *, busy_timeout_sec: float = 10.0) -> None:
        self._path = path
        self._busy_timeout_sec = busy_timeout_sec
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path, timeout=self._busy_timeout_sec, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_SCHEMA)
        self._connection, self._pid = connection, os.getpid()
        return connection

    @contextmanager
    def step(self) -> Iterator[Step]:
        with self._lock:
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE")
            except (sqlite3.Error, OSError) as error:
                raise _failed("transport state cannot be opened", error) from error
            try:
                yield _SqliteStep(connection)
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._rollback(connection)
                raise _failed("transport state", error) from error
            except BaseException:
                self._rollback(connection)
                raise

    @staticmethod
    def _rollback(connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None


def _failed(what: str, error: sqlite3.Error | OSError) -> StorageError:
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if full or (isinstance(error, OSError) and error.errno == errno.ENOSPC):
        return DiskFull(f"the disk is full: {what}: {error}")
    return StorageError(f"{what}: {error}")


class _SqliteStep:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, kind: str, name: str) -> Document | None:
        row = self._connection.execute(
            "SELECT document FROM gate_state WHERE kind = ? AND name = ?", (kind, name)
        ).fetchone()
        return None if row is None else parsed(row[0])

    def put(self, kind: str, name: str, document: Document) -> None:
        self._connection.execute(
            "INSERT INTO gate_state (kind, name, document) VALUES (?, ?, ?) "
            "ON CONFLICT (kind, name) DO UPDATE SET document = excluded.document",
            (kind, name, json.dumps(document)),
        )

    def all(self, kind: str) -> dict[str, Document]:
        rows = self._connection.execute("SELECT name, document FROM gate_state WHERE kind = ?", (kind,))
        return {name: parsed(text) for name, text in rows}


def parsed(text: str) -> Document:
    """A document from its JSON text; StorageError when it is none."""
    document = json.loads(text)
    if not isinstance(document, dict):
        raise StorageError("transport state holds a document that is no object")
    return document
