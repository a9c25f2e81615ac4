"""The warehouse in an SQLite file: a copy by the online backup API."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from core.clock import SystemClock, stamp
from resources.backup.data_files import check_sqlite, copy_sqlite, open_copy
from resources.backup.manifest import BackupError, StoredFile, WarehouseState, describe
from resources.settings import Settings

ENGINE = "sqlite"
STORED = "warehouse/warehouse.sqlite3"
"""Where a backup has the file."""
_SIDES = ("", "-wal", "-shm", "-journal", ".migrate")
Ask = Callable[[str], list[tuple[object, ...]]]


def engine_of(settings: Settings) -> str:
    """`sqlite` or `mariadb`."""
    backend = sa.make_url(settings.warehouse_address).get_backend_name()
    return ENGINE if backend == "sqlite" else "mariadb"


def warehouse_file(settings: Settings) -> Path:
    """The SQLite file that the settings name."""
    return Path(sa.make_url(settings.warehouse_address).database or "").resolve()


def files_of(path: Path) -> list[Path]:
    """The file with those that SQLite and the migration make beside it."""
    return [path.with_name(f"{path.name}{side}") for side in _SIDES]


def own_files(settings: Settings) -> list[Path]:
    """The files of the warehouse; none when a server has it."""
    return files_of(warehouse_file(settings)) if engine_of(settings) == ENGINE else []


def state_of(ask: Ask, engine: str, taken_at: str) -> WarehouseState:
    """What a snapshot holds; `ask` runs a query on that snapshot."""
    newest = ask("SELECT batch_id, started_at FROM sys_batch ORDER BY started_at DESC, batch_id DESC LIMIT 1")
    migration = ask("SELECT version_num FROM alembic_version")
    batch_id, started_at = newest[0] if newest else (None, None)
    return WarehouseState(
        engine=engine,
        taken_at=taken_at,
        migration=str(migration[0][0]) if migration else "",
        batches=int(str(ask("SELECT COUNT(*) FROM sys_batch")[0][0])),
        newest_batch=None if batch_id is None else str(batch_id),
        newest_batch_at=None if started_at is None else str(started_at),
    )


def copy_warehouse(settings: Settings, folder: Path) -> tuple[WarehouseState, list[StoredFile]]:
    """Copy the warehouse into a backup. Raises BackupError when it is missing, empty or damaged."""
    source, target = warehouse_file(settings), folder / STORED
    if not source.is_file():
        raise BackupError(f"{settings.warehouse_variables}: there is no warehouse at {source}")
    taken_at = stamp(SystemClock().now())
    copy_sqlite(source, target)
    check_sqlite(target)
    with closing(open_copy(target)) as connection:
        try:
            state = state_of(lambda query: connection.execute(query).fetchall(), ENGINE, taken_at)
        except sqlite3.OperationalError as error:
            raise BackupError(f"{source} holds no warehouse: {error}") from error
    return state, [describe(target, STORED, 0o644)]
