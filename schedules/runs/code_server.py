"""`python -m schedules.runs.code_server OPTIONS`: `dagster code-server start OPTIONS`, once the runs that the
last code server left at work are ended.

Dagster's default launcher makes a run a child process of the code server. One that is killed, or whose
container is, takes its runs with it, and nobody else notices: a launcher of Dagster that does (Docker,
Kubernetes) needs containers.
"""

import runpy
import sys

from dagster import DagsterInstance

from core.errors import PlatformError
from resources import logs
from resources.settings import process_settings
from resources.warehouse.engine import make_engine
from schedules.runs.left_runs import fail_left_runs


def main() -> None:
    settings = process_settings()
    logs.configure(settings, "code_location")
    engine = make_engine(settings.warehouse_address, pool_size=1)
    try:
        with DagsterInstance.get() as instance:
            fail_left_runs(instance, engine)
    except PlatformError as error:
        # A warehouse that is away: its locks expire by themselves.
        sys.stderr.write(f"{error.message}\n")
    finally:
        engine.dispose()
        logs.unconfigure()
    sys.argv = ["dagster", "code-server", "start", *sys.argv[1:]]
    runpy.run_module("dagster", run_name="__main__")


if __name__ == "__main__":
    main()
