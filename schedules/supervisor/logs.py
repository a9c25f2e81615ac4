"""Log files of the child processes: 10 MB each, three old ones kept."""

import threading
from pathlib import Path
from typing import IO

MAX_BYTES = 10_000_000
KEEP = 3


class RotatingLog:
    """An append-only file that is moved aside when it has grown to `max_bytes`."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
        self.path = path
        self._max = max_bytes
        self._keep = keep
        self._lock = threading.Lock()
        self._out = path.open("ab")

    def write(self, line: bytes) -> None:
        with self._lock:
            if self._out.closed:
                return
            if self._out.tell() + len(line) > self._max:
                self._rotate()
            self._out.write(line)
            self._out.flush()

    def _rotate(self) -> None:
        self._out.close()
        for number in range(self._keep - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        self.path.replace(self._numbered(1))
        self._out = self.path.open("ab")

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def close(self) -> None:
        with self._lock:
            self._out.close()

    def tail(self, lines: int = 2) -> str:
        """The last lines that say something, for a message about a child that died."""
        with self.path.open("rb") as handle:
            handle.seek(max(0, handle.seek(0, 2) - 4096))
            text = handle.read().decode("utf-8", "replace")
        return " | ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])


def pump(stream: IO[bytes], log: RotatingLog) -> threading.Thread:
    """Copy a child's output to its log until the child closes it."""

    def copy() -> None:
        with stream:
            for line in stream:
                log.write(line)

    thread = threading.Thread(target=copy, name=f"log-{log.path.stem}", daemon=True)
    thread.start()
    return thread
