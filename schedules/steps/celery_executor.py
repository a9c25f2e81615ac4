"""The executor of runs whose steps are carried out by step workers: dagster-celery's, with what this platform
adds to it. Of the extra `celery`; imported only where BROKER_URL is set."""

import contextvars
import signal
import threading
import warnings
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
from celery.exceptions import DuplicateTaskNameWarning
from dagster_celery.executor import CeleryExecutor

from core.stopping import can_be_stopped, stop_reason
from platform_assets.definitions.dagster_internals import RetryMode
from platform_assets.definitions.step_order import OrderedPlan
from resources.run_heartbeat import RunHeartbeat
from resources.settings import Settings
from resources.warehouse.engine import make_engine
from schedules.steps.queues import celery_settings, result_url

NAME = "step_workers"
LOOK_S = 0.5


class StepWorkersExecutor(CeleryExecutor):
    """Hands each step to the queue of its table. The process of the run only waits: it has the heartbeat that
    steps of a run without workers have, and it hears when the run is to stop."""

    def __init__(self, warehouse: str, **how: Any) -> None:
        super().__init__(**how)
        self._warehouse = warehouse

    def execute(self, plan_context: Any, execution_plan: Any) -> Iterator[Any]:
        with (
            self._alive(plan_context.run_id),
            _interrupted_on_request(plan_context),
            warnings.catch_warnings(),
        ):
            # dagster-celery registers its one task again for each step.
            warnings.simplefilter("ignore", DuplicateTaskNameWarning)
            yield from super().execute(plan_context, OrderedPlan(*execution_plan))

    @contextmanager
    def _alive(self, run_id: str) -> Iterator[None]:
        """A heartbeat of the run, so that its death is noticed. That of a worker's run is the worker's."""
        if can_be_stopped():
            yield
            return
        engine = make_engine(self._warehouse, pool_size=1)
        heartbeat = RunHeartbeat(engine, run_id)
        heartbeat.start()
        try:
            yield
        finally:
            heartbeat.stop()
            engine.dispose()


@contextmanager
def _interrupted_on_request(plan_context: Any) -> Iterator[None]:
    """A request to stop (`core.stopping`) becomes the interruption that Dagster's executors know: no further
    step is handed out, and workers see that the run is being canceled."""
    if not can_be_stopped():
        yield
        return
    done = threading.Event()
    context = contextvars.copy_context()

    def watch() -> None:
        while not done.wait(LOOK_S):
            reason = context.run(stop_reason)
            if reason is not None:
                run = plan_context.instance.get_run_by_id(plan_context.run_id)
                if run is not None and not run.is_finished:
                    plan_context.instance.report_run_canceling(run, message=f"Asked to stop: {reason}")
                interrupt_main(signal.SIGINT)
                return

    watcher = threading.Thread(target=watch, name="stop-request", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def step_workers(settings: Settings) -> dg.ExecutorDefinition:
    """The executor for BROKER_URL. Addresses come from the settings of the process, never from a run's
    configuration, so that no password reaches the Dagster UI."""

    @dg.executor(
        name=NAME,
        config_schema={},
        requirements=dg.multiple_process_executor_requirements(),
    )
    def executor(_context: dg.InitExecutorContext) -> StepWorkersExecutor:
        return StepWorkersExecutor(
            settings.warehouse_address,
            retries=RetryMode.ENABLED,
            broker=settings.broker_address,
            backend=result_url(settings),
            config_source=celery_settings(),
        )

    return executor
