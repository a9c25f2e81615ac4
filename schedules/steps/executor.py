"""Which executor the runs of the code location have."""

import importlib.util

import dagster as dg

from core.errors import InputError
from platform_assets.definitions.step_order import in_process
from resources.settings import Settings


def run_executor(settings: Settings) -> dg.ExecutorDefinition:
    """In the run's own process (the default executor would pay a Python start per step), or by step workers
    when BROKER_URL is set. Raises InputError when what they need is not there."""
    if not settings.broker_url:
        return in_process
    if importlib.util.find_spec("dagster_celery") is None:
        raise InputError("BROKER_URL", "dagster-celery is not installed; install the extra `celery`")
    from schedules.steps.celery_executor import step_workers  # noqa: PLC0415  the extra `celery`

    return step_workers(settings)
