"""Output of the child processes on its way to their log files.

Under the supervisor it alone owns the files: every child writes to its error stream (ours,
Dagster, an interpreter that dies), and every line passes here. Records of ours come redacted; other lines
are redacted on the way.
"""

import threading
from collections.abc import Callable
from typing import IO

from resources.log_files import RotatingLog
from resources.logs import is_record
from resources.redact import redact

MOST_LINE = 1 << 20
"""Bytes of output without a line end that are kept together."""


def pump(stream: IO[bytes], log: RotatingLog, *, mask: Callable[[str], str] = redact) -> threading.Thread:
    """Copy a child's output to its log until the child closes it."""

    def copy() -> None:
        with stream:
            while line := stream.readline(MOST_LINE):
                log.write(line if is_record(line) else _masked(line, mask))

    thread = threading.Thread(target=copy, name=f"log-{log.path.stem}", daemon=True)
    thread.start()
    return thread


def _masked(line: bytes, mask: Callable[[str], str]) -> bytes:
    # Escapes that cannot be decoded come out as they came in.
    return mask(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
