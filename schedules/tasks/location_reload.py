"""Makes a changed trigger time, the trade date that begins and a corrected calendar effective: the code
location is reloaded while the served cron lines differ from the task table, and while the served partitions
are not the trade dates up to today. Level, not edge: nothing is lost when a change comes during a reload."""

import logging
import threading
import time
from collections.abc import Callable

from core.calendar import FIRST_PARTITION
from core.clock import SystemClock
from core.errors import PlatformError, Unavailable
from resources.orchestrator import Orchestrator
from schedules.services import Services
from schedules.tasks.trigger_times import write_times

log = logging.getLogger(__name__)
LOOK_S = 3.0
BACKOFF_S = 30.0
"""After a reload that did not help: a code location that does not load is not loaded every 3 s."""

BY_DATE = ("dwd", "fusion_kline_daily")
"""An asset whose served partitions tell with which trade dates the location was loaded."""


def differing(services: Services, orchestrator: Orchestrator) -> list[str]:
    """Keys of tasks whose served cron line is not the table's."""
    served = orchestrator.schedules()
    return [
        state.key
        for state in services.tasks.all()
        if state.key in served and state.task.timing.cron != served[state.key].cron
    ]


class RetimeWatcher:
    """Compares and reloads. `look` is one comparison; `run` repeats it until the event is set."""

    def __init__(
        self,
        services: Services,
        orchestrator: Orchestrator,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        today: Callable[[], str] | None = None,
    ) -> None:
        """`today` by the clock that the partitions follow: the system clock, or a simulated one."""
        clock = services.clock if services.settings.sample_clock else SystemClock()
        self._today = today or (lambda: clock.now().date().isoformat())
        self._served: list[str] = []
        self._services = services
        self._orchestrator = orchestrator
        self._monotonic = monotonic
        self._not_before = 0.0

    def look(self) -> bool:
        """True when the location was reloaded and now serves the table."""
        if self._monotonic() < self._not_before:
            return False
        try:
            changed = self._changed()
        except Unavailable:
            raise
        except PlatformError as error:
            # The location did not load: nothing is served until it is reloaded.
            log.warning("reloading the code location: %s", error.message)
        else:
            if not changed:
                return False
            log.info("reloading the code location: %s", ", ".join(changed))
        write_times(self._services.settings.data_path, self._services.tasks.all())
        try:
            self._orchestrator.reload()
        except Unavailable as error:
            log.warning("the code location is not reloaded yet: %s", error.message)
            return False
        finally:
            self._not_before = self._monotonic() + BACKOFF_S
        left = self._changed()
        if left:
            log.warning("reloaded, and there is still to do: %s", ", ".join(left))
            return False
        self._not_before = 0.0
        return True

    def _changed(self) -> list[str]:
        """Why the location has to be reloaded."""
        moved = [f"{key} moved" for key in differing(self._services, self._orchestrator)]
        today = self._today()
        dates = self._services.calendar.between(FIRST_PARTITION, today)
        if self._served == dates:
            return moved
        served = [day for day in self._orchestrator.partitions(BY_DATE) if day <= today]
        if served and served != [day for day in dates if day >= served[0]]:
            begun = served[-1] < dates[-1] and served == [
                day for day in dates if served[0] <= day <= served[-1]
            ]
            return [*moved, f"{dates[-1]} has begun" if begun else "the calendar has changed"]
        self._served = dates
        return moved

    def run(self, stopping: threading.Event) -> None:
        while not stopping.wait(LOOK_S):
            try:
                self.look()
            except Unavailable:
                continue  # the webserver starts or restarts; the sensor fires moved scheduled runs meanwhile
            except PlatformError as error:
                log.warning("retime watcher: %s", error.message)
