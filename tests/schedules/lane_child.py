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
from schedules.services import Services
from tests.schedules.runs import EndedRuns


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
        services, EndedRuns(), handlers={"hang": Handler(hang_in_a_lock)}, beat_s=0.05, lane_limit_s=0.5
    ).run()


if __name__ == "__main__":
    main()
