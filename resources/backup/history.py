"""Dagster's storage in a backup: SQLite files of the data folder, or PostgreSQL.

The parts are copied in the order in which Dagster depends on them: rows of runs, then events by asset, then
the events of each run. Dagster writes an event before it changes the row of its run, so a copied run that has
ended has all of its events.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from core.clock import SystemClock, stamp
from resources.backup import postgres
from resources.backup.data_files import is_sqlite_file, open_copy, open_shared
from resources.backup.manifest import HistoryState, StoredFile
from resources.settings import Settings

SQLITE, POSTGRES = "sqlite", "postgres"
RUNS, EVENTS = "history/runs.db", "history/runs/index.db"
_ENDED = "('SUCCESS', 'FAILURE', 'CANCELED')"
OF_RUNS = f"""SELECT COUNT(*), MAX(id), MAX(update_timestamp),
    COALESCE(SUM(CASE WHEN status IN {_ENDED} THEN 0 ELSE 1 END), 0) FROM runs"""
OF_EVENTS = "SELECT MAX(id) FROM event_logs"
_UNFINISHED = f"SELECT run_id FROM runs WHERE status NOT IN {_ENDED}"


@dataclass(frozen=True)
class Position:
    """How far Dagster's storage has come."""

    runs: int = 0
    highest_run: int | None = None
    newest_change: str | None = None
    unfinished_runs: int = 0
    highest_event: int | None = None

    def state(self, engine: str, taken_at: str, before: "Position") -> HistoryState:
        """For the manifest; `before` was read before the warehouse was copied."""
        return HistoryState(
            engine=engine,
            taken_at=taken_at,
            runs=self.runs,
            highest_run=self.highest_run,
            highest_event=self.highest_event,
            unfinished_runs=self.unfinished_runs,
            newer_than_warehouse=self != before or self.unfinished_runs > 0,
        )


def engine_of(settings: Settings) -> str:
    return POSTGRES if settings.dagster_postgres_url else SQLITE


def position(settings: Settings) -> Position:
    """How far the storage is at this moment; a storage that was not used yet is at its beginning."""
    if engine_of(settings) == POSTGRES:
        with postgres.snapshot(settings.dagster_postgres_url) as connection:
            return postgres_position(connection)
    return sqlite_position(settings.data_path / "dagster")


def sqlite_position(home: Path, *, copied: bool = False) -> Position:
    """The same of the SQLite files in a DAGSTER_HOME, or in a copy of one that nobody writes."""
    runs = _ask(home / RUNS, OF_RUNS, copied=copied)
    if not runs:
        return Position()
    events = _ask(home / EVENTS, OF_EVENTS, copied=copied)
    return _position(runs[0], events[0] if events else (None,))


def postgres_position(connection: postgres.Snapshot) -> Position:
    """The same of a snapshot in PostgreSQL."""
    if not connection.has("runs"):
        return Position()
    return _position(connection.one(OF_RUNS), connection.one(OF_EVENTS))


def _position(runs: tuple[object, ...], events: tuple[object, ...]) -> Position:
    count, highest, changed, unfinished = runs
    return Position(
        runs=int(str(count)),
        highest_run=None if highest is None else int(str(highest)),
        newest_change=None if changed is None else str(changed),
        unfinished_runs=int(str(unfinished)),
        highest_event=None if events[0] is None else int(str(events[0])),
    )


def _ask(path: Path, query: str, *, copied: bool = False) -> list[tuple[object, ...]]:
    """Rows of a query; none when the file is missing or has no tables yet."""
    if not path.is_file() or not is_sqlite_file(path):
        return []
    try:
        with closing(open_copy(path) if copied else open_shared(path)) as connection:
            return list(connection.execute(query).fetchall())
    except sqlite3.OperationalError:
        return []


def in_order(home: Path, files: list[Path]) -> list[Path]:
    """Files of a DAGSTER_HOME in the order in which they are copied; runs that go on before those that have
    ended, so that little time is between their rows and their events."""
    going_on = {f"{run_id}.db" for (run_id,) in _ask(home / RUNS, _UNFINISHED)}
    first = {home / RUNS: 0, home / EVENTS: 1}
    return sorted(files, key=lambda path: (first.get(path, 2 if path.name in going_on else 3), path))


def copy_postgres(
    settings: Settings, folder: Path, before: Position
) -> tuple[HistoryState, list[StoredFile]]:
    """Dump Dagster's tables in PostgreSQL, and say how far the dump is: both from one snapshot."""
    taken_at = stamp(SystemClock().now())
    with postgres.snapshot(settings.dagster_postgres_url) as connection:
        found = postgres_position(connection)
        files = (
            [postgres.dump(settings.dagster_postgres_url, connection, folder)] if connection.tables() else []
        )
    return found.state(POSTGRES, taken_at, before), files
