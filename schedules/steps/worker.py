"""`python -m schedules.steps.worker`: carries out steps of runs, one a process.

Of the extra `celery`. Start one on each machine that is to share the work, with the settings of the others
(BROKER_URL, WAREHOUSE_URL, DAGSTER_POSTGRES_URL) and a DATA_DIR at the same path.
"""

import argparse
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from celery import Task
from celery.exceptions import Reject
from celery.signals import setup_logging, worker_ready, worker_shutdown
from dagster import DagsterExecutionInterruptedError, DagsterInstance
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_task

from core.errors import PlatformError, StorageError
from core.stopping import Requested, stoppable
from platform_assets.definitions.dagster_internals import ExecuteStepArgs, unpack_value
from platform_assets.definitions.queues import QUEUES
from platform_assets.definitions.resources import is_up_to_date
from resources import logs, tracing
from resources.settings import Settings, process_settings
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.heartbeats import BEAT_S, STEP_WORKER, Heartbeats, this_node
from schedules.code_location import defs
from schedules.runs.records import is_terminated
from schedules.steps.queues import celery_settings, result_url

log = logging.getLogger(__name__)
LOOK_S = 1.0
TERMINATED = "its run was terminated"


@cache
def opened_instance(_process: int) -> DagsterInstance:
    """Dagster's instance of a process; a forked one opens its own."""
    return DagsterInstance.get()


def run_ends(instance: DagsterInstance, run_id: str) -> Requested:
    """Whether a run is being ended, looked up once in LOOK_S at most."""
    next_look = 0.0
    reason: str | None = None

    def requested() -> str | None:
        nonlocal next_look, reason
        if reason is None and time.monotonic() >= next_look:
            next_look = time.monotonic() + LOOK_S
            reason = TERMINATED if is_terminated(instance, run_id) else None
        return reason

    return requested


class StepTask(Task):
    """A step that ends at its next safe point when its run is terminated, and that is not begun when its run
    has ended: a message may come back after the run was given up."""

    def __call__(self, execute_step_args_packed: dict[str, Any], executable_dict: dict[str, Any]) -> Any:
        # In the process of the pool: what sends the spans is a thread, and none survives the fork.
        tracing.configure(process_settings(), STEP_WORKER)
        run_id = unpack_value(execute_step_args_packed, as_type=ExecuteStepArgs).run_id
        instance = opened_instance(os.getpid())
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return []
        try:
            with stoppable(run_ends(instance, run_id)), logs.bound(run_id=run_id):
                return self.run(execute_step_args_packed, executable_dict)
        except DagsterExecutionInterruptedError:
            if is_terminated(instance, run_id):
                raise
            # Stored as its result it would end the run, while the broker gives the step to another worker.
            raise Reject("its process was interrupted", requeue=True) from None
        finally:
            # A step closes every log handler of its process.
            logs.configure(process_settings(), STEP_WORKER)


def make_worker_app(settings: Settings) -> Any:
    """The Celery app of this process, with the one task that steps are."""
    app = make_app(
        {
            "broker": settings.broker_address,
            "backend": result_url(settings),
            "config_source": celery_settings(),
        }
    )
    app.conf.task_queues = None  # made from their names, as the executor makes them
    create_task(app, base=StepTask)
    return app


def main(arguments: Sequence[str]) -> int:
    about = argparse.ArgumentParser(prog="python -m schedules.steps.worker")
    about.add_argument("--queues", default=",".join(QUEUES), help="comma list of download, fuse, calc")
    about.add_argument("--processes", default=1, type=int, help="steps at the same time")
    given = about.parse_args(arguments)
    settings = process_settings()
    logs.configure(settings, STEP_WORKER)
    setup_logging.connect(_ours, weak=False)
    try:
        app = make_worker_app(settings)
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    is_up_to_date(settings.warehouse_address)  # `schedules.supervisor.prepare` has done that
    heartbeat = Heartbeat(settings.warehouse_address)
    # Threads begin after the processes of the pool: those are copies of this one.
    worker_ready.connect(heartbeat.start, weak=False)
    worker_shutdown.connect(heartbeat.stop, weak=False)
    # Its message of a finished step holds all events of the step.
    logging.getLogger("celery.app.trace").setLevel(logging.WARNING)
    log.info("ready for the steps of %d jobs", len(list(defs.jobs or ())))
    app.worker_main(
        ["worker", "--hostname", f"{STEP_WORKER}-{os.getpid()}@%h", "--queues", given.queues,
         "--concurrency", str(given.processes), "--without-gossip", "--without-mingle"]
    )  # fmt: skip
    return 0


class Heartbeat:
    """The row of this process in `sys_heartbeat`, from `start` to `stop`."""

    def __init__(self, warehouse: str) -> None:
        self._beats = Heartbeats(make_engine(warehouse, pool_size=1))
        self._node = this_node(STEP_WORKER)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="heartbeat", daemon=True)

    def start(self, **_: object) -> None:
        self._thread.start()

    def stop(self, **_: object) -> None:
        self._ending.set()
        with contextlib.suppress(StorageError):
            self._beats.forget(self._node.node_id)

    def _keep(self) -> None:
        while True:
            with contextlib.suppress(StorageError):  # away: the next beat comes before the last one is old
                self._beats.beat(self._node)
            if self._ending.wait(BEAT_S):
                return


def _ours(**_: object) -> None:
    """Keeps Celery from a log of its own."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
