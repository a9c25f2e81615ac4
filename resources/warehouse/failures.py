"""What a driver's error means: the disk is full, or the database refused for another reason."""

import errno
import re
import sqlite3
from typing import Any

from core.errors import DamagedStorage, Deadlock, DiskFull, StorageError
from resources.redact import redact

FULL = "the disk is full"
_DEADLOCK = 1213
"""MariaDB: the transaction lost a deadlock and is rolled back."""
_FULL_CODES = frozenset({1021, 1114})
"""MariaDB: the disk is full; the table is full."""
_SYSTEM_CODES = frozenset({3, 14, 1026, 1030})
"""MariaDB: an error of the operating system, whose number is in the text."""
_NO_ROOM = re.compile(rf"\b(?:error|errno|errcode):?\s*{errno.ENOSPC}\b|no space left", re.IGNORECASE)


def is_full(error: Any) -> bool:
    """Whether a driver's error, or one of the operating system, says that there is no room left."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    code = next(iter(getattr(error, "args", ())), None)
    return code in _FULL_CODES or (code in _SYSTEM_CODES and bool(_NO_ROOM.search(str(error))))


_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DAMAGED_TABLES = frozenset({126, 127, 145, 1034, 1035, 1194, 1195, 1712})
"""MariaDB: a table or an index is crashed or corrupted."""


def is_damaged(error: Any) -> bool:
    """Whether a driver's error says that the stored pages are wrong."""
    if isinstance(error, sqlite3.Error):
        return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGED
    return next(iter(getattr(error, "args", ())), None) in _DAMAGED_TABLES


def storage_error(error: BaseException) -> StorageError:
    """Our error for one of a driver, as SQLAlchemy wraps it or bare; without the values of a statement."""
    original = getattr(error, "orig", None) or error
    text = redact(str(original))
    if next(iter(getattr(original, "args", ())), None) == _DEADLOCK:
        return Deadlock(text)
    if is_damaged(original):
        return DamagedStorage(f"the database is damaged, restore a backup: {text}")
    return DiskFull(f"{FULL}: {text}") if is_full(original) else StorageError(text)
