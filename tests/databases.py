"""Databases for tests. Those of MariaDB are made once per process, lent, and emptied when they come back;
those of SQLite are copied from one that was made once.

Making every table takes long, emptying or copying them milliseconds, and nearly every test of an engine needs
all of them.
"""

import atexit
import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

MARIADB_URL = os.environ.get("TEST_MARIADB_URL", "mysql+pymysql://root@127.0.0.1:3306")
_KEPT = ("alembic_version",)
_LOCK_WAIT_S = 10
_free: dict[str, list[str]] = {}
_made: list[str] = []


def _connect(database: str | None = None) -> Any:
    import pymysql

    parts = urlsplit(MARIADB_URL)
    return pymysql.connect(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or 3306,
        user=parts.username or "root",
        password=parts.password or "",
        database=database,
        autocommit=True,
    )


def _run(database: str | None, *statements: str) -> list[tuple[Any, ...]]:
    """Rows of the last statement."""
    connection = _connect(database)
    try:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())
    finally:
        connection.close()


def _url(name: str) -> str:
    return f"{MARIADB_URL.rstrip('/')}/{name}"


def _new(prefix: str) -> str:
    name = f"{prefix}_{uuid.uuid4().hex[:16]}"
    _run(None, f"CREATE DATABASE {name}")
    return name


def _drop(name: str) -> None:
    _run(None, f"DROP DATABASE IF EXISTS {name}")


@contextmanager
def own_mariadb(prefix: str) -> Iterator[str]:
    """URL of a new database without tables that nobody else uses, dropped at the end."""
    name = _new(prefix)
    try:
        yield _url(name)
    finally:
        _drop(name)


@contextmanager
def lent_mariadb(kind: str) -> Iterator[str]:
    """URL of a database that nobody else uses now. It may hold tables without a row, those of earlier tests
    of the same `kind`: tests that declare one table differently are of different kinds."""
    free = _free.setdefault(kind, [])
    if free:
        name = free.pop()
    else:
        name = _new("test")
        if not _made:
            atexit.register(_drop_all)
        _made.append(name)
    yield _url(name)
    # Not after a failure: what a broken test left behind is nobody's beginning.
    _empty(name)
    free.append(name)


def _drop_all() -> None:
    for name in _made:
        _drop(name)


def _empty(name: str) -> None:
    """Rows out of the tables, counters back to 1."""
    found = _run(
        None,
        f"SET SESSION lock_wait_timeout={_LOCK_WAIT_S}",
        "SELECT table_name, auto_increment FROM information_schema.tables "
        f"WHERE table_schema='{name}' AND table_type='BASE TABLE'",
    )
    statements = [f"SET SESSION innodb_lock_wait_timeout={_LOCK_WAIT_S}"]
    for table, counter in found:
        if table in _KEPT:
            continue
        statements.append(f"DELETE FROM `{table}`")
        if counter is not None and counter > 1:
            statements.append(f"ALTER TABLE `{table}` AUTO_INCREMENT=1")
    _run(name, *statements)


Create = Callable[[sa.Engine, sa.MetaData], list[str]]
_MANY_TABLES = 50


def copied_from_the_first(create: Create) -> Create:
    """`create_missing` that makes the tables of a set once: a further SQLite database without any table gets
    them by a copy of what the first one got."""
    made: dict[int, tuple[sa.MetaData, sqlite3.Connection, list[str]]] = {}

    def create_or_copy(engine: sa.Engine, metadata: sa.MetaData) -> list[str]:
        if engine.dialect.name != "sqlite" or len(metadata.tables) < _MANY_TABLES:
            return create(engine, metadata)
        with engine.connect() as connection:
            found = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
            raw: Any = connection.connection.driver_connection
            if not found and id(metadata) in made:
                _, template, added = made[id(metadata)]
                connection.rollback()
                template.backup(raw)
                return list(added)
        added = create(engine, metadata)
        if not found:
            with engine.connect() as connection:
                raw = connection.connection.driver_connection
                template = sqlite3.connect(":memory:", check_same_thread=False)
                raw.backup(template)
            made[id(metadata)] = metadata, template, added
        return added

    return create_or_copy
