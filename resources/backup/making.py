"""Make a backup while the platform runs.

Order: how far Dagster's history is, the warehouse, Dagster's history, everything else. Whatever is copied
later is at least as new as what it is referred to by: runs of batches, payloads of fetches, secrets of
sealed values.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core.clock import SystemClock, stamp
from core.errors import DiskFull, StorageError
from resources.backup import data_files, history, warehouse_mariadb, warehouse_sqlite
from resources.backup.manifest import FORMAT, BackupError, Manifest, StoredFile, describe
from resources.settings import Settings
from resources.warehouse.failures import is_full

DATA = "data"
"""Folder of a backup with the files of DATA_DIR."""


def default_target(settings: Settings) -> Path:
    """A new folder in `DATA_DIR/backups`, named by the time."""
    return settings.data_path / data_files.BACKUPS / f"{SystemClock().now():%Y%m%d-%H%M%S}"


def package_version() -> str:
    try:
        return version("ashare-platform")
    except PackageNotFoundError:
        return "unknown"


@contextmanager
def only_one(data: Path) -> Iterator[None]:
    """No other backup or restore of this data folder works meanwhile. Raises BackupError."""
    handle = os.open(data / data_files.LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise BackupError(f"DATA_DIR: another backup or restore of {data} is at work") from None
    try:
        yield
    finally:
        os.close(handle)


def backup(settings: Settings, to: Path) -> Manifest:
    """Copy the state of the installation into the new folder `to` (mode 700, files 600).

    It is written beside `to` and renamed when it is complete. Raises BackupError, StorageError, DiskFull;
    then, and when it is killed, there is no `to`.
    """
    data, to = settings.data_path, to.expanduser().absolute()
    if not data.is_dir():
        raise BackupError(f"DATA_DIR: there is no folder {data}")
    if to.is_relative_to(data) and not to.is_relative_to(data / data_files.BACKUPS):
        raise BackupError(f"TO: {to} is inside of DATA_DIR; take another folder, or none")
    if to.exists():
        raise BackupError(f"TO: {to} exists already; a backup gets a new folder")
    part = to.with_name(f".{to.name}.part")
    try:
        with only_one(data):
            _remove_killed(data / data_files.BACKUPS)
            shutil.rmtree(part, ignore_errors=True)
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.mkdir(mode=0o700)
            try:
                manifest = _fill(settings, part)
                os.sync()
                part.rename(to)
                os.sync()
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
    except OSError as error:
        if is_full(error):
            raise DiskFull(f"TO: the disk of {to.parent} is full") from error
        raise StorageError(f"TO: {error.filename or to} cannot be written ({error.strerror})") from error
    return manifest


def _remove_killed(folder: Path) -> None:
    """What a backup that was killed left in the usual place; none works now."""
    for part in folder.glob(".*.part"):
        shutil.rmtree(part, ignore_errors=True)


def _fill(settings: Settings, part: Path) -> Manifest:
    started_at = stamp(SystemClock().now())
    before = history.position(settings)
    embedded = warehouse_sqlite.engine_of(settings) == warehouse_sqlite.ENGINE
    copy = warehouse_sqlite.copy_warehouse if embedded else warehouse_mariadb.copy_warehouse
    warehouse, files = copy(settings, part)
    if history.engine_of(settings) == history.POSTGRES:
        dagster, dumped = history.copy_postgres(settings, part, before)
        files += dumped + _copy_history_files(settings, part)
    else:
        taken_at = stamp(SystemClock().now())
        files += _copy_history_files(settings, part)
        copied = history.sqlite_position(part / DATA / "dagster", copied=True)
        dagster = copied.state(history.SQLITE, taken_at, before)
    files += _copy_rest(settings, part)
    manifest = Manifest(
        format=FORMAT,
        package_version=package_version(),
        started_at=started_at,
        finished_at=stamp(SystemClock().now()),
        warehouse=warehouse,
        dagster=dagster,
        files=tuple(files),
    )
    manifest.write(part)
    return manifest


def _copy_history_files(settings: Settings, part: Path) -> list[StoredFile]:
    home = settings.data_path / "dagster"
    return _copy(settings, part, history.in_order(home, list(data_files.files_below(home))))


def _copy_rest(settings: Settings, part: Path) -> list[StoredFile]:
    own = set(warehouse_sqlite.own_files(settings))
    found = [
        path
        for entry in data_files.entries(settings.data_path)
        if entry.name != "dagster"
        for path in data_files.files_below(entry)
        if path.resolve() not in own
    ]
    return _copy(settings, part, found)


def _copy(settings: Settings, part: Path, paths: list[Path]) -> list[StoredFile]:
    """Copies of files of the data folder. One that has gone meanwhile is left out: it was cleaned up."""
    copied = []
    for path in paths:
        if data_files.beside_sqlite(path) or path.name.endswith(".part"):
            continue
        name = f"{DATA}/{path.relative_to(settings.data_path)}"
        try:
            mode = path.stat().st_mode & 0o777
            (data_files.copy_sqlite if data_files.is_sqlite_file(path) else data_files.copy_plain)(
                path, part / name
            )
        except (FileNotFoundError, StorageError):
            if path.exists():
                raise
            (part / name).unlink(missing_ok=True)
            continue
        copied.append(describe(part / name, name, mode))
    return copied
