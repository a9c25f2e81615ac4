"""A worker on a warehouse of its own, one lane of which hangs in a lock as soon as it gets a command."""

import sys
import threading
from pathlib import Path
from typing import Any

from core.calendar import shipped_calendar
from core.clock import SystemClock
from resources.settings import load_settings
from resources.warehouse.engine import make_engine
from schedules.commands.command_context import Handler, Work
from schedules.commands.worker import Worker
from schedules.runs.outcome import RunOutcome
from schedules.services import Services


class NoRuns:
    """A runner without jobs."""

    def has(self, job: str) -> bool:
        return False

    def terminated(self, run_id: str) -> bool:
        return False

    def run(self, job: str, **_how: Any) -> RunOutcome:
        raise LookupError(job)


def hang_in_a_lock(_work: Work) -> dict[str, Any]:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
    return {}


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    settings = load_settings({"DATA_DIR": str(folder)}, dotenv=folder / "none")
    services = Services(settings, SystemClock(), shipped_calendar(), make_engine(url))
    Worker(
        services, NoRuns(), handlers={"hang": Handler(hang_in_a_lock)}, beat_s=0.05, lane_limit_s=0.5
    ).run()


if __name__ == "__main__":
    main()
