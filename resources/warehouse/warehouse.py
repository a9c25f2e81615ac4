"""The warehouse: one object that opens a database, brings it up to the declarations and hands out
reads, the writer and the locks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import pandas as pd
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from core.clock import Clock
from core.declaration.tables import Table
from core.errors import NotFound, StorageError
from resources.warehouse import reads
from resources.warehouse.ddl import build_metadata, create_missing
from resources.warehouse.engine import is_sqlite, make_engine, reading
from resources.warehouse.failures import storage_error
from resources.warehouse.locks import DomainLocks
from resources.warehouse.migrate import migration_lock, run_data_migrations
from resources.warehouse.month_partitions import extend, merge_years
from resources.warehouse.payloads import FolderPayloads, PayloadStore
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql
from resources.warehouse.stored import Where
from resources.warehouse.system_tables import INFRA_TABLES, SYSTEM_TABLES
from resources.warehouse.writer import Writer

OLD_YEARS = "old_years"
"""End of the name of the folder with column files of years before the warehouse's: `lake_old_years`."""


def open_payloads(url: str, folder: Path) -> PayloadStore:
    """The store of PAYLOAD_URL; an empty one is `folder`. Raises InputError for another address, or without
    the library that it needs."""
    if not url:
        return FolderPayloads(folder)
    # The library of an extra: loaded by those who set an address.
    from resources.warehouse.object_payloads import ObjectPayloads  # noqa: PLC0415

    return ObjectPayloads.at(url)


class Warehouse:
    """Tables of the declarations in one database.

    `read_only` opens SQLite without any right to write (the API's reads); such a warehouse has no
    writer. Every method raises StorageError when the database refuses or cannot be reached.
    """

    def __init__(
        self,
        url: str,
        tables: Iterable[Table],
        *,
        clock: Clock,
        payload_folder: Path,
        payload_url: str = "",
        lake_url: str | Path | None = None,
        read_only: bool = False,
        pool: Mapping[str, Any] | None = None,
    ) -> None:
        self.url = url
        self.clock = clock
        self.read_only = read_only
        self.lake_url = lake_url
        everything = (*SYSTEM_TABLES, *INFRA_TABLES, *tables)
        self.tables: dict[str, Table] = {table.name: table for table in everything}
        if len(self.tables) != len(everything):
            raise StorageError("two tables share a name")
        self.engine: Engine = make_engine(url, read_only=read_only, **(pool or {}))
        self.sql = Sql(self.engine)
        self.payloads = open_payloads(payload_url, payload_folder)
        self.locks = DomainLocks(self.engine)
        self.writer = Writer(self.engine, clock, self.payloads, self.locks)

    @property
    def may_have_old_years(self) -> bool:
        """Whether rows may be in column files beside the lake (`resources.lake.old_years`), found out without
        the libraries that read them. An object store is not asked."""
        url = None if self.lake_url is None else str(self.lake_url).rstrip("/")
        if url is None or url.startswith("s3:"):
            return url is not None
        return Path(f"{url.removeprefix('file://')}_{OLD_YEARS}").is_dir()

    @property
    def metadata(self) -> sa.MetaData:
        """The DDL of every table."""
        return build_metadata(tuple(self.tables.values()))

    # -- life -------------------------------------------------------------------------------------

    def migrate(self) -> list[str]:
        """Create what is missing, run data migrations, seed version and lock rows. Idempotent; one
        process migrates, the others wait. Returns what was added."""
        try:
            with migration_lock(self.engine):
                added = create_missing(self.engine, self.metadata)
                if added:
                    extend(self.engine, self.tables.values(), self.clock.now())
                run_data_migrations(self.engine)
                with self.engine.begin() as connection:
                    known = set(connection.exec_driver_sql("SELECT table_name FROM table_version").scalars())
                    for table in self.tables.values():
                        if table.name not in known:
                            row = {"table_name": table.name, "version": 0, "row_count": 0}
                            self.sql.put(connection, "table_version", row)
                    self.locks.seed(connection)
        except sa.exc.DBAPIError as error:
            raise storage_error(error) from error
        return added

    def divide(self) -> list[str]:
        """Put coming months apart as partitions and make one of each older year, on MariaDB and MySQL;
        returns what was made. Raises StorageError."""
        tables, now = tuple(self.tables.values()), self.clock.now()
        return extend(self.engine, tables, now) + merge_years(self.engine, tables, now)

    def close(self) -> None:
        self.engine.dispose()

    def table(self, name: str) -> Table:
        try:
            return self.tables[name]
        except KeyError:
            raise NotFound(f"no table {name!r}") from None

    # -- reads ------------------------------------------------------------------------------------

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection for reads."""
        with reading(self.engine) as connection:
            yield connection

    def rows(self, name: str, *where: Where, **how: Unpack[reads.Selection]) -> list[dict[str, Any]]:
        """Dictionaries of `reads.select_rows`."""
        with self.connect() as connection:
            return reads.select_dicts(connection, self.table(name), *where, **how)

    def frame(
        self,
        name: str,
        *,
        columns: Iterable[str] | None = None,
        where: Slice | None = None,
        as_of: str | None = None,
    ) -> pd.DataFrame:
        """A coerced frame of a slice."""
        with self.connect() as connection:
            picked = None if columns is None else tuple(columns)
            return reads.select_frame(
                connection, self.sql, self.table(name), columns=picked, where=where, as_of=as_of
            )

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A hand-written SELECT with `?` marks."""
        with self.connect() as connection:
            return [tuple(row) for row in self.sql.run(connection, statement, values)]

    def versions(self) -> dict[str, dict[str, Any]]:
        """`table_version` by table name."""
        return {str(row["table_name"]): row for row in self.rows("table_version")}

    @property
    def sqlite(self) -> bool:
        return is_sqlite(self.engine)
