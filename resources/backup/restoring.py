"""Restore a backup: everything is checked and loaded beside the present state, which is then replaced.

The old state is set aside, not deleted. A restore that fails, or the next one after a kill, brings it back.
"""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from core.clock import SystemClock
from core.errors import DiskFull, PlatformError, StorageError
from core.processes import alive
from resources.backup import history, journal, warehouse_sqlite
from resources.backup.data_files import entries
from resources.backup.folder_swap import FolderSwap
from resources.backup.making import DATA, only_one
from resources.backup.manifest import BackupError, Manifest, read_manifest, verify
from resources.backup.postgres import PostgresSwap
from resources.backup.warehouse_mariadb import MariadbSwap
from resources.run_lock import RunLock
from resources.settings import Settings
from resources.warehouse.engine import make_engine
from resources.warehouse.failures import is_full
from resources.warehouse.ledger.heartbeats import Heartbeats, Node
from resources.warehouse.migrate import revisions
from resources.warehouse.write_probe import ROLE as PROBE

STORED_SQLITE = Path(warehouse_sqlite.STORED)


@dataclass(frozen=True)
class Restored:
    """What was restored, and where the state before it is (in words)."""

    manifest: Manifest
    aside: tuple[str, ...]


class Swap(Protocol):
    """One place that is replaced."""

    def occupied(self) -> str:
        """What would be replaced, in words; empty when there is nothing."""
        ...

    def stage(self, source: Path, manifest: Manifest) -> None:
        """Load what belongs here beside the old state."""
        ...

    def swap(self) -> None:
        """Set the old state aside and put the new one in its place."""
        ...

    def undo(self) -> None:
        """The old state back, from wherever `swap` ended."""
        ...

    def clear(self) -> None:
        """Remove what was only staged."""
        ...

    def aside(self) -> str:
        """Where the old state is, in words; empty when there was none."""
        ...


def restore(settings: Settings, source: Path, *, replace: bool = False) -> Restored:
    """Restore the backup in `source` into the places that the settings name.

    `replace` sets a state that is there aside. Raises BackupError for a backup that is damaged, incomplete or
    of another engine and for a target that is not empty, StartRefused for one in use, StorageError, DiskFull;
    then the old state is in place.
    """
    source, data = source.expanduser().absolute(), settings.data_path
    manifest = read_manifest(source)
    _check_engines(settings, manifest)
    _check_migration(manifest)
    verify(source, manifest)
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = RunLock(data)
        lock.take(SystemClock().now())
        try:
            with only_one(data):
                return _replace(settings, source, manifest, replace=replace)
        finally:
            lock.release()
    except OSError as error:
        if is_full(error):
            raise DiskFull(f"DATA_DIR: the disk of {data} is full") from error
        raise StorageError(
            f"DATA_DIR: {error.filename or data} cannot be written ({error.strerror})"
        ) from error


def _check_engines(settings: Settings, manifest: Manifest) -> None:
    configured = warehouse_sqlite.engine_of(settings)
    if manifest.warehouse.engine != configured:
        raise BackupError(
            f"WAREHOUSE_URL: the backup holds a warehouse of {manifest.warehouse.engine}, the settings "
            f"({settings.warehouse_variables}) name {configured}"
        )
    wanted = history.engine_of(settings)
    if manifest.dagster.engine != wanted:
        raise BackupError(
            f"DAGSTER_POSTGRES_URL: the backup holds Dagster's storage of {manifest.dagster.engine}, the "
            f"settings name {wanted}"
        )


def _check_migration(manifest: Manifest) -> None:
    """An older state is migrated at the next start; a newer one is nothing this version can read."""
    known = {script.revision for script in revisions()[1].walk_revisions()}
    if manifest.warehouse.migration and manifest.warehouse.migration not in known:
        raise BackupError(
            f"FROM: the backup is of version {manifest.package_version} with migration "
            f"{manifest.warehouse.migration}, which this version does not know; install that version"
        )


def _replace(settings: Settings, source: Path, manifest: Manifest, *, replace: bool) -> Restored:
    data = settings.data_path
    _bring_back(settings)
    _refuse_alive(settings)
    stamp = f"{SystemClock().now():%m%d%H%M%S}"
    parts = _parts(settings, stamp)
    found = [text for part in parts if (text := part.occupied())]
    if found and not replace:
        raise BackupError(
            f"DATA_DIR: the target is not empty ({', '.join(found)}); "
            "REPLACE=1 (--replace) sets that state aside"
        )
    journal.write(data, stamp, journal.LOADING)
    try:
        for part in parts:
            part.stage(source, manifest)
        os.sync()
        journal.write(data, stamp, journal.SWAPPING)
        for part in parts:
            part.swap()
    except BaseException:
        _bring_back(settings)
        raise
    journal.remove(data)
    for part in parts:
        part.clear()
    return Restored(manifest, tuple(dict.fromkeys(text for part in parts if (text := part.aside()))))


def _bring_back(settings: Settings) -> None:
    """Undo the restore that the journal names, if there is one."""
    noted = journal.read(settings.data_path)
    if noted is None:
        return
    parts = _parts(settings, noted[0])
    for part in reversed(parts):
        part.undo()
    for part in parts:
        part.clear()
    journal.remove(settings.data_path)


def _parts(settings: Settings, stamp: str) -> list[Swap]:
    """Every place, the one that takes longest and fails most easily first."""
    parts: list[Swap] = []
    if settings.dagster_postgres_url:
        parts.append(PostgresSwap(settings.dagster_postgres_url, stamp))
    if warehouse_sqlite.engine_of(settings) != warehouse_sqlite.ENGINE:
        parts.append(MariadbSwap(settings, stamp))
    return [*parts, *_folders(settings, stamp)]


def _folders(settings: Settings, stamp: str) -> list[Swap]:
    """The data folder, and the folder of an SQLite warehouse that is kept elsewhere."""
    data = settings.data_path
    within: Path | None = None
    outside: list[Swap] = []
    if warehouse_sqlite.engine_of(settings) == warehouse_sqlite.ENGINE:
        file = warehouse_sqlite.warehouse_file(settings)
        if file.is_relative_to(data):
            within = file.relative_to(data)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            outside.append(_warehouse_folder(file, stamp))

    def place(path: Path) -> Path | None:
        return (
            within if path == STORED_SQLITE else path.relative_to(DATA) if path.is_relative_to(DATA) else None
        )

    return [FolderSwap(data, lambda: entries(data), place, stamp), *outside]


def _warehouse_folder(file: Path, stamp: str) -> Swap:
    def found() -> list[Path]:
        return [path for path in warehouse_sqlite.files_of(file) if path.exists()]

    def place(path: Path) -> Path | None:
        return Path(file.name) if path == STORED_SQLITE else None

    return FolderSwap(file.parent, found, place, stamp)


def _refuse_alive(settings: Settings) -> None:
    """Processes without a supervisor on this data folder are known by their heartbeats."""
    embedded = warehouse_sqlite.engine_of(settings) == warehouse_sqlite.ENGINE
    if embedded and not warehouse_sqlite.warehouse_file(settings).is_file():
        return
    engine = make_engine(settings.warehouse_address, wait_s=1.0)
    try:
        if not sa.inspect(engine).has_table("sys_heartbeat"):
            return
        beating = [node for node in Heartbeats(engine).all() if node.role != PROBE and _is_alive(node)]
    except (PlatformError, sa.exc.DBAPIError):
        return  # a database that cannot be read is a reason to restore one
    finally:
        engine.dispose()
    if beating:
        node = beating[0]
        raise BackupError(
            f"{settings.warehouse_variables}: the platform runs, {node.role} on {node.host} (process "
            f"{node.pid}) gave a sign of life at {node.beat_at:%H:%M:%S}; stop it (one that was "
            "killed counts for 90 s)"
        )


def _is_alive(node: Node) -> bool:
    return node.fresh() and (node.host != socket.gethostname()[:40] or alive(node.pid))
