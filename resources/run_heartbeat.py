"""The heartbeat of a run that has a process of its own, so that its death is noticed from anywhere.

Dagster's code server notices when a run process dies, as long as it is alive itself. When both die (a
container, a machine) the run would stay in progress for ever: the worker then finds a heartbeat that went
silent. Runs inside the worker are covered by the worker's own heartbeat.
"""

import threading
from dataclasses import replace

from sqlalchemy.engine import Engine

from core.errors import StorageError
from resources.warehouse.ledger.heartbeats import BEAT_S, RUN, Heartbeats, this_node


class RunHeartbeat:
    """Beats in `sys_heartbeat` under the run's id from `start` to `stop`."""

    def __init__(self, engine: Engine, run_id: str, *, beat_s: float = BEAT_S) -> None:
        self._beats = Heartbeats(engine)
        self._node = replace(this_node(RUN), node_id=run_id)
        self._beat_s = beat_s
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="run-heartbeat", daemon=True)

    def start(self) -> None:
        """Raises StorageError when the database refuses the first beat."""
        self._beats.beat(self._node)
        self._thread.start()

    def stop(self) -> None:
        """The run ended by itself: nothing is left to notice. Raises StorageError."""
        self._ending.set()
        self._thread.join()
        self._beats.forget(self._node.node_id)

    def _keep(self) -> None:
        while not self._ending.wait(self._beat_s):
            try:
                self._beats.beat(self._node)
            except StorageError:
                continue  # a busy database; the next beat comes before the last one is old
