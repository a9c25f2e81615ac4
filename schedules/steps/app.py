"""The Celery app of the step workers: `celery -A schedules.steps.app worker -Q download,fuse,calc -c 1`, or
`dagster-celery worker start -A schedules.steps.app -q download,fuse,calc`, which calls the former and
hands no signal on to it.

Of the extra `celery`. Start one on each machine that is to share the work, with the settings of the others
(BROKER_URL, WAREHOUSE_URL, DAGSTER_POSTGRES_URL) and a DATA_DIR at the same path. Dagster's own app
(`dagster_celery.app`) has no place for these settings but a file, into which it would write their passwords.
"""

import contextlib
import logging
import threading

from celery.signals import setup_logging, worker_process_init, worker_ready, worker_shutdown
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_task

from core.errors import StorageError
from platform_assets.definitions.resources import is_up_to_date
from resources import logs, tracing
from resources.settings import process_settings
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.heartbeats import BEAT_S, STEP_WORKER, Heartbeats, this_node
from schedules.steps.queues import app_arguments

_ending = threading.Event()
_settings = process_settings()
app = make_app(app_arguments(_settings))
execute_plan = create_task(app)


@setup_logging.connect
def _log(**_: object) -> None:
    """Our log instead of Celery's, whose record of a finished step would hold all events of the step."""
    logs.configure(_settings, STEP_WORKER)
    logging.getLogger("celery.app.trace").setLevel(logging.WARNING)


@worker_process_init.connect
def _begin(**_: object) -> None:
    """In the process that carries out steps: what sends the spans is a thread, and none survives a fork."""
    tracing.configure(_settings, STEP_WORKER)
    is_up_to_date(_settings.warehouse_address)  # `schedules.supervisor.prepare` has done that


@worker_ready.connect
def _beat(**_: object) -> None:
    """The row in `sys_heartbeat` by which /health, the supervisor and the container know the worker."""
    threading.Thread(target=_keep_beating, name="heartbeat", daemon=True).start()


@worker_shutdown.connect
def _end(**_: object) -> None:
    _ending.set()


def _keep_beating() -> None:
    beats, node = Heartbeats(make_engine(_settings.warehouse_address, pool_size=1)), this_node(STEP_WORKER)
    while True:
        with contextlib.suppress(StorageError):  # away: the next beat comes before the last one is old
            beats.beat(node)
        if _ending.wait(BEAT_S):
            return
