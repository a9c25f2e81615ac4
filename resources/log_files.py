"""Log files that rotate: 10 MB each, with the last three.

A file may have several writers (runs of one code location are processes of their own): the one that finds it
full renames it under the file's lock, and the others notice before their next line.
"""

import contextlib
import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

MAX_BYTES = 10_000_000
KEEP = 3
_TAIL = 64 * 1024


class RotatingLog:
    """An append-only file that is moved aside when it has grown to `max_bytes`. Opened by the first line."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
        self.path = path
        self._max = max_bytes
        self._keep = keep
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._closed = False

    def write(self, line: bytes) -> None:
        """Append one line. A full disk loses lines but does not stop the writer."""
        with self._lock, contextlib.suppress(OSError):
            if self._closed:
                return
            handle = self._current()
            if os.fstat(handle).st_size + len(line) > self._max:
                self._rotate(handle)
                handle = self._current()
            os.write(handle, line)

    def _current(self) -> int:
        """The open file, opened again when another writer has renamed it."""
        if self._handle is not None and not self._is_current(self._handle):
            self._release()
        if self._handle is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
        return self._handle

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(handle))
        except FileNotFoundError:
            return False

    def _rotate(self, handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        # While this one waited for the lock, another may have moved the file aside.
        if self._is_current(handle) and os.fstat(handle).st_size > 0:
            for number in range(self._keep - 1, 0, -1):
                older = self._numbered(number)
                if older.exists():
                    older.replace(self._numbered(number + 1))
            self.path.replace(self._numbered(1))
        self._release()  # and the lock with it

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def _release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._release()

    def tail(self, lines: int = 2, *, shown: Callable[[str], str] = str) -> str:
        """The last non-empty lines, each formatted by `shown`, for a message about a process that died."""
        try:
            with self.path.open("rb") as handle:
                handle.seek(max(0, handle.seek(0, 2) - _TAIL))
                text = handle.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        found = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
        return " | ".join(shown(line) for line in found)
