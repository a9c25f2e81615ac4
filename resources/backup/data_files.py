"""Which files of the data folder belong to a backup, and how they are copied while they are in use."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from core.errors import StorageError
from resources.backup.manifest import BackupError
from resources.warehouse.failures import storage_error

BACKUPS = "backups"
STAGED = ".restore-"
ASIDE = "replaced-"
LOCK = "backup.lock"
JOURNAL = "restore.json"
_MADE_AGAIN = ("logs", "numba", "sample", "lake")
"""Logs, compiled kernels, the cache of the simulated market, and the published tables: the next publication
compares them with the restored warehouse and makes again what is not of its history."""
_OF_A_START = ("run.lock", "run-web.lock", "run.json", "run-web.json", "simulator.json", "simulator-web.json")
_PACING = ("transport.sqlite3", "transport.sqlite3-wal", "transport.sqlite3-shm")
"""Breakers and call counts of this machine: they go on as they are, whatever is restored."""
_OWN = (BACKUPS, LOCK, JOURNAL, ".lock")
_LEFT_OUT = frozenset((*_MADE_AGAIN, *_OF_A_START, *_PACING, *_OWN))
_SQLITE_HEADER = b"SQLite format 3\0"
_SQLITE_SIDES = ("-wal", "-shm", "-journal")


def entries(data: Path) -> list[Path]:
    """Files and folders at the top of a data folder that are state of the installation; a new one belongs to
    it unless it is listed as left out."""
    if not data.is_dir():
        return []
    return [
        path
        for path in sorted(data.iterdir())
        if path.name not in _LEFT_OUT and not path.name.startswith((STAGED, ASIDE))
    ]


def files_below(path: Path) -> Iterator[Path]:
    """A file, or all files of a folder, without symbolic links. What vanishes meanwhile is left out."""
    if path.is_symlink():
        return
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names.sort()
        for name in sorted(files):
            found = Path(folder) / name
            if not found.is_symlink() and found.is_file():
                yield found


def beside_sqlite(path: Path) -> bool:
    """Whether a file belongs to an SQLite database beside it: the log and the lock of a file in use."""
    return path.name.endswith(_SQLITE_SIDES)


def is_sqlite_file(path: Path) -> bool:
    """By its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER


def make_private(path: Path) -> None:
    """An empty file for the owner alone, in folders for the owner alone."""
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir(mode=0o700)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def copy_sqlite(source: Path, target: Path) -> None:
    """The committed state of an SQLite file that others may write to, by SQLite's online backup in one step:
    writers go on and are not in the copy. Raises StorageError, BackupError for a file that is damaged."""
    make_private(target)
    try:
        with closing(open_shared(source)) as reader, closing(sqlite3.connect(target)) as copy:
            reader.backup(copy, pages=-1)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise StorageError(f"{source}: {storage_error(error).message}") from error
        raise BackupError(f"{source} is damaged: {error}") from error


def open_shared(path: Path) -> sqlite3.Connection:
    """A file that others may write to, opened for reads."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=30)


def open_copy(path: Path) -> sqlite3.Connection:
    """A copy that nobody writes, opened without the files that SQLite makes beside one in use."""
    return sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)


def check_sqlite(path: Path) -> None:
    """SQLite's own check of a copy. Raises BackupError with its first finding."""
    with closing(open_copy(path)) as connection:
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            found = str(error)
    if found != "ok":
        raise BackupError(f"the warehouse is damaged: {found}")


def copy_plain(source: Path, target: Path) -> None:
    """The bytes of a file, for the owner alone. Raises FileNotFoundError when it has gone meanwhile."""
    with source.open("rb") as reader:
        make_private(target)
        with target.open("wb") as writer:
            shutil.copyfileobj(reader, writer)
