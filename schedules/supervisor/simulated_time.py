"""`python -m schedules.supervisor.simulated_time <module> <arguments...>`: runs a process of Dagster whose
schedules and sensors follow the market clock of SAMPLE_CLOCK; everything else of it (heartbeats, the times of
runs and events, timeouts) stays on the system clock.

Dagster asks `dagster._time` for the time and waits for the next tick on an event. Both are replaced in the
modules that decide about ticks, and nowhere else.
"""

import importlib
import os
import runpy
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import SHANGHAI
from core.simulated_clock import VARIABLE, SimulatedClock
from platform_assets.definitions.dagster_internals import DAEMONS, TICKING

LONGEST_WAIT_S = 0.5
"""How soon a wait notices that the clock runs at another rate."""


class Waiting:
    """Dagster's event for the end of a daemon, whose `wait` counts seconds of the simulated clock. A clock
    that is set to another time neither shortens nor prolongs a wait, as with a real one."""

    def __init__(self, event: threading.Event, clock: SimulatedClock) -> None:
        self._event = event
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._event, name)

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is None:
            return self._event.wait()
        left = timeout
        while left > 0:
            rate, began = self._clock.pace.rate, time.monotonic()
            if self._event.wait(min(left / rate, LONGEST_WAIT_S)):
                return True
            left -= (time.monotonic() - began) * rate
        return self._event.is_set()


def follow(clock: SimulatedClock) -> None:
    """From now on the schedules and sensors of this process follow `clock`."""

    # Before the others: those of TICKING import it in a circle.
    daemon = importlib.import_module(DAEMONS)

    def moment(tz: str = "UTC") -> datetime:
        return (clock.now() - SHANGHAI).replace(tzinfo=UTC).astimezone(ZoneInfo(tz))

    for name in TICKING:
        module = importlib.import_module(name)
        for used, replaced in (
            ("get_current_datetime", moment),
            ("get_current_timestamp", lambda: moment().timestamp()),
        ):
            if hasattr(module, used):
                setattr(module, used, replaced)
    for kind in (daemon.SchedulerDaemon, daemon.SensorDaemon):
        _wait_with(kind, clock)


def _wait_with(kind: Any, clock: SimulatedClock) -> None:
    loop = kind.core_loop

    def core_loop(self: Any, context: Any, shutdown_event: threading.Event) -> Iterator[Any]:
        return iter(loop(self, context, Waiting(shutdown_event, clock)))

    kind.core_loop = core_loop


def main() -> None:
    follow(SimulatedClock(Path(os.environ[VARIABLE])))
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
