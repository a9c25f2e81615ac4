"""Dagster's own SQLite files while a run writes its events into them.

Dagster's storage of events makes an engine and a connection for each event and closes both again: SQL is
compiled each time, and the last one to close a file writes it back and waits for the disk. That was 43 % of
the main thread of a run with nothing new to load. While a run goes on its files stay open here, and the
events that Dagster hands over together are one transaction. A commit waits for the disk as rarely as one of
the warehouse does (`synchronous=NORMAL`: a power cut may take the newest events, and leaves no broken file).
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dagster import DagsterInstance
from sqlalchemy.pool import StaticPool

from platform_assets.definitions.dagster_internals import InstanceRef, SqliteEventLogStorage

INDEX = "index"
BUSY_S = 60.0
BATCH_SETTING, BATCH_SIZE = "DAGSTER_EVENT_BATCH_SIZE", "500"
"""By this Dagster hands over events of one moment together: what a run plans, the dates of a range."""


class OpenEventLogStorage(SqliteEventLogStorage):
    """Dagster's storage in the same files; within `kept_open` their connections stay open and are used
    again. A thread that holds a connection gets it, with its transaction, when it asks once more."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        super().__init__(base_dir, inst_data)
        self._db_lock: Any = threading.RLock()
        self._engines: dict[str, sa.Engine] | None = None
        self._in_use: dict[str, sa.Connection] = {}
        self._tables: set[str] = set()

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> "OpenEventLogStorage":
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def kept_open(self, run_id: str) -> Iterator[None]:
        """Within it the index and the file of `run_id` stay open from their second connection on: at the
        first one Dagster makes the file. Files of other runs are opened and closed as ever."""
        engines = {
            shard: sa.create_engine(
                self.conn_string_for_shard(shard),
                poolclass=StaticPool,
                connect_args={"timeout": BUSY_S, "check_same_thread": False},
            )
            for shard in (INDEX, run_id)
        }
        for engine in engines.values():
            sa.event.listen(engine, "connect", _wait_rarely)
        self._engines = engines
        try:
            yield
        finally:
            with self._db_lock:
                self._engines = None
                for engine in engines.values():
                    engine.dispose()

    @contextmanager
    def _connect(self, shard: str) -> Iterator[sa.Connection]:
        with self._db_lock:
            if shard in self._in_use:
                yield self._in_use[shard]
                return
            engine = (self._engines or {}).get(shard)
            with ExitStack() as stack:
                if engine is None or shard not in self._initialized_dbs:
                    connection = stack.enter_context(super()._connect(shard))
                else:
                    connection = stack.enter_context(engine.begin())
                self._in_use[shard] = connection
                stack.callback(self._in_use.pop, shard)
                yield connection

    def has_table(self, table_name: str) -> bool:
        """Asked for each event of an asset; a table that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def store_event_batch(self, events: Sequence[Any]) -> None:
        """One transaction a file for events of one run."""
        with self.run_connection(events[0].run_id), self.index_connection():
            super().store_event_batch(events)


def open_instance() -> DagsterInstance:
    """The instance of DAGSTER_HOME, whose event files may be kept open where it has them at their usual
    place; PostgreSQL and storage of another configuration are left as they are."""
    instance = DagsterInstance.get()
    root = Path(instance.root_directory)
    storage = instance.event_log_storage
    folder = root / "history" / "runs"
    if type(storage) is not SqliteEventLogStorage or Path(storage.path_for_shard(INDEX)).parent != folder:
        return instance
    os.environ.setdefault(BATCH_SETTING, BATCH_SIZE)
    kind = OpenEventLogStorage
    chosen = {"module": kind.__module__, "class": kind.__name__, "config": {"base_dir": str(folder)}}
    return DagsterInstance.from_ref(InstanceRef.from_dir(str(root), overrides={"event_log_storage": chosen}))


@contextmanager
def kept_open(instance: DagsterInstance, run_id: str) -> Iterator[None]:
    """Within it the files of a run stay open, where they are files of this process."""
    storage = instance.event_log_storage
    if not isinstance(storage, OpenEventLogStorage):
        yield
        return
    # The file of the runs is written rarely: it is enough that nobody is the last to close it.
    held = sqlite3.connect(Path(instance.root_directory) / "history" / "runs.db", check_same_thread=False)
    try:
        held.execute("SELECT 1 FROM sqlite_master").fetchone()
        with storage.kept_open(run_id):
            yield
    finally:
        held.close()


def _wait_rarely(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")
