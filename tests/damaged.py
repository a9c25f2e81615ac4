"""A database file with damaged pages."""

import sqlite3
from contextlib import closing
from pathlib import Path


def damage(file: Path) -> None:
    """Garbage over the first page of the bars and of each of their indices."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        tables = "SELECT rootpage FROM sqlite_master WHERE tbl_name LIKE 'fusion_kline_daily%'"
        pages = [page for (page,) in connection.execute(tables) if page]
    with file.open("r+b") as handle:
        for page in pages:
            handle.seek((page - 1) * size)
            handle.write(b"\xa5" * size)
