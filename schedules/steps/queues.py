"""What the executor and the step workers agree on: queues, broker, and where results are stored."""

from typing import Any

from core.errors import InputError
from platform_assets.definitions.queues import QUEUES
from resources.settings import Settings

RECONNECT = {"max_retries": 100, "interval_start": 0.5, "interval_step": 0.5, "interval_max": 5.0}
"""About eight minutes: a broker that is restarted is waited for, one that is gone ends the run."""


def result_url(settings: Settings) -> str:
    """Where a worker leaves what a step did, for the process of the run: beside Dagster's own history. In the
    broker it would be lost with it. Raises InputError without PostgreSQL."""
    if not settings.dagster_postgres_url:
        raise InputError(
            "BROKER_URL", "step workers need Dagster's history in PostgreSQL; set DAGSTER_POSTGRES_URL"
        )
    return f"db+{settings.dagster_postgres_url}"


def celery_settings() -> dict[str, Any]:
    """Celery's settings, equal on both sides: a queue that both declare must be declared alike."""
    return {
        "broker_transport_options": {**RECONNECT, "confirm_publish": True},
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "task_publish_retry_policy": RECONNECT,
        "task_default_queue": QUEUES[0],
        "task_queue_max_priority": 10,
        "task_default_priority": 5,
        # A step belongs to a worker until its result is stored: the broker gives it to another one when the
        # connection of the first ends. One at a time, so that none waits behind a long one.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        # A step whose message went back to the broker is ended here, since another worker begins it now.
        "worker_cancel_long_running_tasks_on_connection_loss": True,
        # And one that came to its end before its message went back is not done twice.
        "worker_deduplicate_successful_tasks": True,
        "worker_hijack_root_logger": False,
        "worker_proc_alive_timeout": 60.0,
        "result_extended": False,
    }
