"""What the executor and the step workers agree on: queues, broker, and where results are stored."""

from typing import Any

from core.errors import InputError
from platform_assets.definitions.queues import QUEUES
from resources.settings import Settings

RECONNECT = {"max_retries": 100, "interval_start": 0.5, "interval_step": 0.5, "interval_max": 5.0}
"""About eight minutes: a broker that is restarted is waited for, one that is gone ends the run."""


def app_arguments(settings: Settings) -> dict[str, Any]:
    """What Celery's app is made with, equal on both sides. Results are left beside Dagster's own history: in
    the broker they would be lost with it. Raises InputError without PostgreSQL."""
    if not settings.dagster_postgres_url:
        raise InputError(
            "BROKER_URL", "step workers need Dagster's history in PostgreSQL; set DAGSTER_POSTGRES_URL"
        )
    return {
        "broker": settings.broker_address,
        "backend": f"db+{settings.dagster_postgres_url}",
        "config_source": celery_settings(),
    }


def celery_settings() -> dict[str, Any]:
    """Celery's settings, equal on both sides: a queue that both declare must be declared alike."""
    return {
        "broker_transport_options": {**RECONNECT, "confirm_publish": True},
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "task_publish_retry_policy": RECONNECT,
        "task_default_queue": QUEUES[0],
        # A step belongs to a worker until its result is stored: the broker gives it to another one when the
        # connection of the first ends. One at a time, so that none waits behind a long one.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        # A step that came to its end before its message went back is not done twice.
        "worker_deduplicate_successful_tasks": True,
        "worker_proc_alive_timeout": 60.0,
        "result_extended": False,
    }
