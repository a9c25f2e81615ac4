"""Makes a changed trigger time effective: the code location is loaded anew while the served cron lines
differ from the task table. Level, not edge: nothing is lost when a change comes during a reload."""

import logging
import threading
import time
from collections.abc import Callable

from resources.errors import PlatformError, Unavailable
from resources.orchestrator import Orchestrator
from schedules.house import House

log = logging.getLogger(__name__)
LOOK_S = 3.0
BACKOFF_S = 30.0
"""After a reload that did not help: a code location that does not load is not loaded every 3 s."""


def differing(house: House, orchestrator: Orchestrator) -> list[str]:
    """Keys of tasks whose served cron line is not the table's."""
    served = orchestrator.schedules()
    return [
        state.key
        for state in house.tasks.all()
        if state.key in served and state.task.timing.cron != served[state.key].cron
    ]


class RetimeWatcher:
    """Compares and reloads. `look` is one comparison; `run` repeats it until the event is set."""

    def __init__(
        self,
        house: House,
        orchestrator: Orchestrator,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._house = house
        self._orchestrator = orchestrator
        self._monotonic = monotonic
        self._not_before = 0.0

    def look(self) -> bool:
        """True when the location was loaded anew and now serves the table."""
        if self._monotonic() < self._not_before:
            return False
        try:
            changed = differing(self._house, self._orchestrator)
        except Unavailable:
            raise
        except PlatformError as error:
            # The location did not load: nothing is served until it is loaded anew.
            log.warning("reloading the code location: %s", error.message)
        else:
            if not changed:
                return False
            log.info("reloading the code location: %s moved", ", ".join(changed))
        self._not_before = self._monotonic() + BACKOFF_S
        self._orchestrator.reload()
        left = differing(self._house, self._orchestrator)
        if left:
            log.warning("reloaded, but %s is still served at its old time", ", ".join(left))
            return False
        self._not_before = 0.0
        return True

    def run(self, stopping: threading.Event) -> None:
        while not stopping.wait(LOOK_S):
            try:
                self.look()
            except Unavailable:
                continue  # the webserver starts or restarts; the sensor fires moved slots meanwhile
            except PlatformError as error:
                log.warning("retime watcher: %s", error.message)
