"""`python -m schedules.runs.code_server OPTIONS`: `dagster code-server start OPTIONS`, which ends the runs
that the last code server left at work.

Dagster's default launcher makes a run a child process of the code server. One that is killed, or whose
container is, takes its runs with it, and nobody else notices: a launcher of Dagster that does (Docker,
Kubernetes) needs containers. Dagster tries such a run once more as soon as it has failed, and gives that up
where the code location is not loaded again: so a run that may be tried again fails a minute later.
"""

import runpy
import sys
import threading
import time
from collections.abc import Sequence

from dagster import DagsterInstance, DagsterRun

from core.errors import PlatformError
from resources import logs
from resources.settings import process_settings
from resources.warehouse.engine import make_engine
from schedules.run_tags import ONCE
from schedules.runs.left_runs import fail_runs, left_runs

SETTLED_S = 60.0
"""So long after the start every process of Dagster has loaded the code location again."""


def main() -> None:
    settings = process_settings()
    logs.configure(settings, "code_location")
    engine = make_engine(settings.warehouse_address, pool_size=1)
    again: list[DagsterRun] = []
    try:
        with DagsterInstance.get() as instance:
            left = left_runs(instance, engine)
            again = [run for run in left if not run.tags.items() >= ONCE.items()]
            fail_runs(instance, (run for run in left if run not in again))
    except PlatformError as error:
        # A warehouse that is away: its locks expire by themselves.
        sys.stderr.write(f"{error.message}\n")
    finally:
        engine.dispose()
        logs.unconfigure()
    if again:
        threading.Thread(target=_fail_later, args=(again,), daemon=True).start()
    sys.argv = ["dagster", "code-server", "start", *sys.argv[1:]]
    runpy.run_module("dagster", run_name="__main__")


def _fail_later(runs: Sequence[DagsterRun]) -> None:
    time.sleep(SETTLED_S)
    with DagsterInstance.get() as instance:
        fail_runs(instance, runs)


if __name__ == "__main__":
    main()
