"""Dagster's SQLite files stay open while a run writes into them, and only then."""

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from schedules.runs.event_store import kept_open

FULL, NORMAL = 2, 1


def write(path: Path) -> int:
    """One event as Dagster stores it, on a connection of its own; how that one waits for the disk."""
    engine = sa.create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS event (id INTEGER)")
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO event VALUES (1)")
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())


def is_open(path: Path) -> bool:
    """Whoever closes a file last writes its log back and takes it away."""
    return path.with_name(f"{path.name}-wal").exists()


def test_files_of_the_run_stay_open_and_are_closed_with_it(tmp_path: Path) -> None:
    own, other = tmp_path / "history" / "run.db", tmp_path / "warehouse.db"
    own.parent.mkdir()

    with kept_open(own.parent):
        waits = (write(own), write(own), write(other))
        opened = (is_open(own), is_open(other))

    assert waits == (NORMAL, NORMAL, FULL)
    assert opened == (True, False)
    assert not is_open(own)
    assert (write(own), is_open(own)) == (FULL, False)
