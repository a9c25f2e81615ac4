"""Tags that every run of ours carries, and the keys that make a request unique. The Dagster UI hides those
that begin with `.dagster/`."""

from collections.abc import Mapping

from resources import orchestrator
from resources.warehouse.ledger.tasks import ScheduledRun

TASK = orchestrator.TASK_TAG
TRADE_DATE = "app/trade_date"
TRIGGER = orchestrator.TRIGGER_TAG
OWNER = ".dagster/app/owner"
SLOT = orchestrator.SLOT_TAG
ATTEMPT = ".dagster/app/attempt"
COMMAND = orchestrator.COMMAND_TAG
LAUNCH = ".dagster/app/launch"
"""One request for a run: finds the run when the answer is lost."""
WARNING = "app/warning"
CODES = orchestrator.CODES_TAG
SINCE = orchestrator.SINCE_TAG
ONCE: Mapping[str, str] = {"dagster/max_retries": "0"}
"""On runs whose ledger decides about a next attempt."""


def scheduled_run_tags(
    scheduled: ScheduledRun, *, trade_date: str, trigger: str, attempt: int, owner: str, warning: str | None
) -> dict[str, str]:
    tags = {
        TASK: scheduled.task,
        SLOT: scheduled.name,
        TRADE_DATE: trade_date,
        TRIGGER: trigger,
        ATTEMPT: str(attempt),
        OWNER: owner,
        **ONCE,
    }
    return tags if warning is None else {**tags, WARNING: warning}


def run_key(scheduled: ScheduledRun, attempt: int) -> str:
    return f"{scheduled.task}:{scheduled.name}:{attempt}"


def same_scheduled_run(task: str, name: str, attempt: int) -> Mapping[str, str]:
    """The tags that find the run of one attempt of a scheduled run."""
    return {TASK: task, SLOT: name, ATTEMPT: str(attempt)}
