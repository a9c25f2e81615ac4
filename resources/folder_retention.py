"""Retention of files of the data folder that nothing else shortens.

Upstream bodies have their own (PAYLOAD_DAYS), and so have notifications (90 days) and logs (10 MB, three old
ones). Recordings and backups are made by hand and stay until somebody deletes them.
"""

import shutil
from datetime import datetime, timedelta
from pathlib import Path

from core.clock import SHANGHAI
from resources.warehouse.failures import storage_error

ANSWERS = "answers"
"""What `ashare doctor --real` received: a folder a time, named by it."""
FILE_DAYS = 90


def shorten_folders(data: Path, now: datetime) -> dict[str, int]:
    """Entries older than FILE_DAYS that each folder lost. `now`: system time. Raises StorageError."""
    before = now - timedelta(days=FILE_DAYS)
    try:
        answers = [
            path for path in _entries(data / ANSWERS) if path.is_dir() and path.name < f"{before:%Y-%m-%d}"
        ]
        for path in answers:
            shutil.rmtree(path)
        # Written by a process that hung: nobody rotates them.
        stacks = [
            path
            for path in _entries(data / "logs")
            if path.suffix == ".stacks" and path.stat().st_mtime < _seconds(before)
        ]
        for path in stacks:
            path.unlink()
    except OSError as error:
        raise storage_error(error) from error
    lost = {ANSWERS: len(answers), "logs": len(stacks)}
    return {name: count for name, count in lost.items() if count}


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _seconds(exchange_time: datetime) -> float:
    return (exchange_time - SHANGHAI - datetime(1970, 1, 1)).total_seconds()
