"""Dagster's own SQLite files while a run writes its events into them.

Dagster opens a connection for each event and closes it again. The last one to close a file writes it back
and waits for the disk, as each commit does: a third of the time of a run of a hundred assets. While a run
goes on one connection more stays open beside them, and a commit waits for the disk as rarely as one of the
warehouse does (`synchronous=NORMAL`: a power cut may take the newest events, and leaves no broken file).
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine


@contextmanager
def kept_open(folder: Path) -> Iterator[None]:
    """Within it the SQLite files below `folder` stay open from their second connection on: at the first one
    Dagster still makes the file. Other engines and folders are left alone."""
    folder = folder.resolve()
    seen: Counter[str] = Counter()
    held: dict[str, sqlite3.Connection] = {}

    def opened(connection: Any, _record: object) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        path = str(connection.execute("PRAGMA database_list").fetchone()[2])
        if not path or not Path(path).is_relative_to(folder):
            return
        connection.execute("PRAGMA synchronous=NORMAL")
        seen[path] += 1
        if seen[path] > 1 and path not in held:
            held[path] = sqlite3.connect(path, check_same_thread=False)
            held[path].execute("SELECT 1 FROM sqlite_master").fetchone()

    sa.event.listen(Engine, "connect", opened)
    try:
        yield
    finally:
        sa.event.remove(Engine, "connect", opened)
        for connection in held.values():
            connection.close()
