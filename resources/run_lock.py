"""The lock files of a data folder that say that a platform runs on it."""

import fcntl
import json
import os
from datetime import datetime
from pathlib import Path

from core.errors import PlatformError


class StartRefused(PlatformError):
    """The installation cannot start as it is set up. The message says what to change."""


LOCKS = {"all": ("run.lock", "run-web.lock"), "worker": ("run.lock",), "web": ("run-web.lock",)}
"""The scheduler side and the API each have a lock of their own: two supervisors may share a data folder
when each has one of them."""


class RunLock:
    """The lock files of a role: held as long as the supervisor lives, whatever kills it."""

    def __init__(self, folder: Path, role: str = "all") -> None:
        self._paths = [folder / name for name in LOCKS[role]]
        self._handles: list[int] = []

    def take(self, now: datetime) -> None:
        """All of them, or StartRefused that says who runs."""
        try:
            for path in self._paths:
                self._handles.append(self._lock(path))
        except StartRefused:
            self.release()
            raise
        text = json.dumps({"pid": os.getpid(), "since": f"{now:%Y-%m-%d %H:%M:%S}"}).encode()
        for handle in self._handles:
            os.ftruncate(handle, 0)
            os.write(handle, text)

    def _lock(self, path: Path) -> int:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StartRefused(f"DATA_DIR: {path} cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(handle, 4096).decode("utf-8", "replace")
            os.close(handle)
            raise StartRefused(_in_use(path, holder)) from None
        return handle

    def release(self) -> None:
        for handle in self._handles:
            os.ftruncate(handle, 0)
            os.close(handle)
        self._handles = []


def _in_use(path: Path, text: str) -> str:
    try:
        facts = json.loads(text)
        who = f"process {facts['pid']} since {facts['since']}"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return f"DATA_DIR: {path.parent} is in use by {who}; stop it or set DATA_DIR to another folder"
