"""JSON files that several processes change: replaced as a whole (temporary file, fsync, rename) under a lock
on their folder, so that two at once lose nothing and a reader never sees half a file."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resources.warehouse.failures import storage_error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """No other process is in here for the same folder, which is made. Raises StorageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise storage_error(error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_json(path: Path, content: Any) -> None:
    """Replace the file. On StorageError the old one stays."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise storage_error(error) from error
