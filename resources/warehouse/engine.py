"""Engines of both databases, set up so that they behave alike.

SQLite: WAL, 8 kB pages set before the first table, `BEGIN IMMEDIATE` for writers, read-only handles
for readers. MariaDB/MySQL: READ COMMITTED, dates and times returned as ISO text, no file ever
sent to the server.
Both return text for dates and times, float for DOUBLE, int for whole numbers and flags.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from core.errors import InputError, StorageError
from resources.redact import redact
from resources.warehouse.failures import storage_error

WRITE_WAIT_S = 30.0
"""How long a pipeline writer waits for another one."""
API_WRITE_WAIT_S = 5.0
"""How long an API write (accounts, commands, settings) waits before 503."""
_READING = "ashare_reading"


def _sqlite_engine(url: sa.URL, *, read_only: bool, wait_s: float) -> Engine:
    path = url.database or ""
    if not read_only and path and path != ":memory:":
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"the folder of {path} cannot be made ({error.strerror})") from None
    address = f"sqlite:///file:{path}?mode=ro&uri=true" if read_only else f"sqlite:///{path}"
    engine = sa.create_engine(
        address,
        connect_args={"timeout": wait_s, "check_same_thread": False, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        if read_only:
            cursor.execute("PRAGMA query_only=1")
        else:
            # Wide rows WITHOUT ROWID spill at 4 kB pages; takes effect before the first table only.
            cursor.execute("PRAGMA page_size=8192")
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA cache_size=-65536")
        cursor.execute(f"PRAGMA mmap_size={1 << 30}")
        cursor.execute("PRAGMA temp_store=MEMORY")
        cursor.execute(f"PRAGMA busy_timeout={int(wait_s * 1000)}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("isolation_level") == "AUTOCOMMIT":
            return
        reading = read_only or options.get(_READING, False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _mysql_engine(url: sa.URL, *, wait_s: float, pool: dict[str, Any]) -> Engine:
    arguments: dict[str, Any] = {"charset": "utf8mb4"}
    if url.drivername.endswith("pymysql"):
        # The driver of this kind of database alone.
        import pymysql.converters  # noqa: PLC0415
        from pymysql.constants import CLIENT, FIELD_TYPE  # noqa: PLC0415

        conversions = dict(pymysql.converters.conversions)
        for kind in (FIELD_TYPE.DATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP):
            conversions.pop(kind, None)
        arguments["conv"] = conversions
        arguments["connect_timeout"] = 5
        # The capability for `bulk_load` alone: the driver itself (`local_infile`) still sends no file.
        # FOUND_ROWS is what SQLAlchemy asks for.
        arguments["client_flag"] = CLIENT.FOUND_ROWS | CLIENT.LOCAL_FILES
    arguments["init_command"] = (
        f"SET SESSION innodb_lock_wait_timeout={max(1, int(wait_s))}, "
        # Of tables that another session locked as a whole; the default is a day.
        f"lock_wait_timeout={max(1, int(wait_s))}, sql_mode='STRICT_ALL_TABLES'"
    )
    try:
        return sa.create_engine(
            url,
            isolation_level="READ COMMITTED",
            pool_pre_ping=True,
            connect_args=arguments,
            **pool,
        )
    except (sa.exc.NoSuchModuleError, ImportError):
        raise InputError("WAREHOUSE_URL", f"the driver of {url.drivername} is not installed") from None


def make_engine(
    url: str,
    *,
    read_only: bool = False,
    wait_s: float = WRITE_WAIT_S,
    pool_size: int = 20,
    max_overflow: int = 10,
    pool_timeout: float = 30.0,
) -> Engine:
    """An engine for `url`. `read_only` opens SQLite with mode=ro and query_only; on a server the account's
    rights decide. Raises InputError for a URL without a supported driver, StorageError for a file whose
    folder cannot be made."""
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("WAREHOUSE_URL", f"{redact(url)!r} is no database URL") from None
    if parsed.get_backend_name() == "sqlite":
        return _sqlite_engine(parsed, read_only=read_only, wait_s=wait_s)
    if parsed.get_backend_name() in {"mysql", "mariadb"}:
        if parsed.drivername in {"mysql", "mariadb"}:
            raise InputError("WAREHOUSE_URL", "name the driver, e.g. mysql+pymysql://")
        pool = {"pool_size": pool_size, "max_overflow": max_overflow, "pool_timeout": pool_timeout}
        return _mysql_engine(parsed, wait_s=wait_s, pool=pool)
    raise InputError("WAREHOUSE_URL", f"{parsed.get_backend_name()!r} is no supported engine")


def is_sqlite(engine: Engine) -> bool:
    return engine.dialect.name == "sqlite"


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """One write transaction; driver errors become StorageError without the statement's values."""
    try:
        with engine.begin() as connection:
            yield connection
    except sa.exc.DBAPIError as error:
        raise storage_error(error) from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that only reads: on SQLite it does not ask for the writer's lock, so polling and long
    reads do not block others. Driver errors become StorageError."""
    try:
        with engine.connect().execution_options(**{_READING: True}) as connection:
            yield connection
    except sa.exc.DBAPIError as error:
        raise storage_error(error) from error
