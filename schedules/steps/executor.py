"""Which executor the runs of the code location have."""

import importlib.util
from typing import Any

import dagster as dg

from core.errors import InputError
from platform_assets.definitions.dagster_internals import RetryMode
from platform_assets.definitions.step_order import OrderedPlan, in_process
from resources.settings import Settings
from schedules.steps.queues import app_arguments

NAME = "step_workers"


def run_executor(settings: Settings) -> dg.ExecutorDefinition:
    """In the run's own process (the default executor would pay a Python start per step), or by step workers
    when BROKER_URL is set. Raises InputError when what they need is not there."""
    if not settings.broker_url:
        return in_process
    if importlib.util.find_spec("dagster_celery") is None:
        raise InputError("BROKER_URL", "dagster-celery is not installed; install the extra `celery`")
    return step_workers(settings)


def step_workers(settings: Settings) -> dg.ExecutorDefinition:
    """dagster-celery's executor with the order of our steps, for which it has no option. Addresses come from
    the settings of the process, never from a run's configuration, so that no password reaches the UI."""
    from dagster_celery.executor import CeleryExecutor  # noqa: PLC0415  the extra `celery`

    class StepWorkersExecutor(CeleryExecutor):
        def execute(self, plan_context: Any, execution_plan: Any) -> Any:
            return super().execute(plan_context, OrderedPlan(*execution_plan))

    arguments = app_arguments(settings)

    @dg.executor(name=NAME, config_schema={}, requirements=dg.multiple_process_executor_requirements())
    def executor(_context: dg.InitExecutorContext) -> StepWorkersExecutor:
        return StepWorkersExecutor(retries=RetryMode.ENABLED, **arguments)

    return executor
