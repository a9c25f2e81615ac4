"""Dagster's tables in PostgreSQL: `pg_dump` and `psql`, which know every type and sequence of the server.

The password is given in a file of mode 600 (PGPASSFILE) that is removed afterwards, never as an argument.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from core.errors import StorageError
from resources.backup.data_files import make_private
from resources.backup.manifest import BackupError, Manifest, StoredFile, describe
from resources.redact import redact
from resources.warehouse.failures import storage_error

STORED = "dagster/postgres.sql"
_SCHEMA = "public"
_TABLES = f"SELECT tablename FROM pg_tables WHERE schemaname = '{_SCHEMA}' ORDER BY tablename"


class Snapshot:
    """A transaction that sees one state of the database."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def one(self, query: str) -> tuple[object, ...]:
        """The first row of a query."""
        return tuple(self._connection.exec_driver_sql(query).one())

    def tables(self) -> list[str]:
        return [str(name) for name in self._connection.exec_driver_sql(_TABLES).scalars()]

    def has(self, table: str) -> bool:
        return table in self.tables()

    def export(self) -> str:
        """The name under which `pg_dump` sees the same state."""
        return str(self.one("SELECT pg_export_snapshot()")[0])


@contextmanager
def _connected(url: str, isolation: str) -> Iterator[sa.Connection]:
    """A connection of its own. Raises StorageError."""
    try:
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args={"connect_timeout": 5})
        with engine.connect().execution_options(isolation_level=isolation) as connection:
            yield connection
    except (sa.exc.DBAPIError, ImportError) as error:
        raise StorageError(f"DAGSTER_POSTGRES_URL: {storage_error(error).message.strip()}") from error
    except (sa.exc.ArgumentError, ValueError):
        raise StorageError("DAGSTER_POSTGRES_URL: no database URL") from None


@contextmanager
def snapshot(url: str) -> Iterator[Snapshot]:
    """One state of the database, for as long as the block lasts."""
    with _connected(url, "REPEATABLE READ") as connection:
        yield Snapshot(connection)


def tool(name: str) -> str:
    """The path of a client tool. Raises BackupError that says what to install."""
    path = shutil.which(name)
    if path is None:
        raise BackupError(
            f"DAGSTER_POSTGRES_URL: {name} is not installed; install the PostgreSQL client tools "
            "(package postgresql-client), at least of the server's version"
        )
    return path


def run_tool(name: str, url: str, arguments: Sequence[str]) -> None:
    """Run a client tool on the database of `url`. Raises StorageError with its first line."""
    path = tool(name)
    parsed = sa.make_url(url)
    options = {"host": parsed.host, "port": parsed.port, "user": parsed.username, "dbname": parsed.database}
    given = {key: value for key, value in {**options, **parsed.query}.items() if value is not None}
    address = " ".join(f"{key}={_quoted(str(value))}" for key, value in given.items())
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "pgpass"
        make_private(secret)
        # libpq accepts it for any host; the folder is the owner's alone and goes with the block.
        escaped = str(parsed.password or "").replace("\\", "\\\\").replace(":", "\\:")
        secret.write_text(f"*:*:*:*:{escaped}\n", encoding="utf-8")
        done = subprocess.run(  # noqa: S603  a tool of PostgreSQL, with arguments of ours
            [path, "--no-password", f"--dbname={address}", *arguments],
            env={**os.environ, "PGPASSFILE": str(secret), "PGCONNECT_TIMEOUT": "5"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    if done.returncode:
        lines = redact(done.stderr.decode("utf-8", "replace")).strip().splitlines()
        raise StorageError(f"DAGSTER_POSTGRES_URL: {lines[0] if lines else f'{name} failed'}")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def dump(url: str, state: Snapshot, folder: Path) -> StoredFile:
    """Dump the tables and sequences of a snapshot into a backup, as SQL."""
    target = folder / STORED
    make_private(target)
    given = ("--format=plain", "--no-owner", "--no-privileges", f"--table={_SCHEMA}.*")
    run_tool("pg_dump", url, (*given, f"--snapshot={state.export()}", f"--file={target}"))
    return describe(target, STORED, 0o600)


class PostgresSwap:
    """Dagster's tables replaced by those of a dump: in one transaction the present tables move into a schema
    of their own, and those of the dump are made."""

    def __init__(self, url: str, stamp: str) -> None:
        self._url = url
        self._aside = f"replaced_{stamp}"
        self._dump: Path | None = None

    def occupied(self) -> str:
        with snapshot(self._url) as state:
            return "tables in DAGSTER_POSTGRES_URL" if state.tables() else ""

    def stage(self, source: Path, manifest: Manifest) -> None:
        """Nothing is loaded ahead: the transaction of `swap` leaves the old tables when it fails."""
        self._dump = source / STORED
        tool("psql")

    def swap(self) -> None:
        with snapshot(self._url) as state:
            tables = state.tables()
        arguments = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        arguments.append(f"--command=CREATE SCHEMA {self._aside};")
        arguments += [
            f'--command=ALTER TABLE {_SCHEMA}."{name}" SET SCHEMA {self._aside};' for name in tables
        ]
        if self._dump is not None and self._dump.is_file():
            arguments.append(f"--file={self._dump}")
        run_tool("psql", self._url, arguments)

    def undo(self) -> None:
        """The tables that were set aside back in their place; those of the dump are dropped."""
        with _connected(self._url, "READ COMMITTED") as connection, connection.begin():
            if not self._has_schema(connection):
                return
            old = self._set_aside(connection)
            for name in connection.exec_driver_sql(_TABLES).scalars().all():
                connection.exec_driver_sql(f'DROP TABLE {_SCHEMA}."{name}" CASCADE')
            for name in old:
                connection.exec_driver_sql(f'ALTER TABLE {self._aside}."{name}" SET SCHEMA {_SCHEMA}')
            connection.exec_driver_sql(f"DROP SCHEMA {self._aside}")

    def clear(self) -> None:
        """Remove the schema of the old tables when it has none."""
        with _connected(self._url, "READ COMMITTED") as connection, connection.begin():
            if self._has_schema(connection) and not self._set_aside(connection):
                connection.exec_driver_sql(f"DROP SCHEMA {self._aside}")

    def aside(self) -> str:
        with _connected(self._url, "READ COMMITTED") as connection:
            return f"schema {self._aside} of DAGSTER_POSTGRES_URL" if self._has_schema(connection) else ""

    def _has_schema(self, connection: sa.Connection) -> bool:
        query = "SELECT COUNT(*) FROM pg_namespace WHERE nspname = %s"
        return bool(connection.exec_driver_sql(query, (self._aside,)).scalar_one())

    def _set_aside(self, connection: sa.Connection) -> list[str]:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY tablename"
        return [str(name) for name in connection.exec_driver_sql(query, (self._aside,)).scalars()]
