"""Tags that every run of ours carries, and the keys that make a request unique."""

from collections.abc import Mapping

from platform_assets.definitions.run_lease import CODES_TAG
from resources.warehouse.ledger.tasks import ScheduledRun

TASK = "app/task_key"
TRADE_DATE = "app/trade_date"
TRIGGER = "app/trigger"
OWNER = "app/owner"
SLOT = "app/slot"
ATTEMPT = "app/attempt"
COMMAND = "app/command_id"
LAUNCH = "app/launch"
"""One request for a run: finds the run when the answer is lost."""
WARNING = "app/warning"
NO_RETRY = "app/no_retry"
"""Set on a run whose failure only a person can mend: the sensor does not retry it."""
CODES = CODES_TAG


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
    }
    return tags if warning is None else {**tags, WARNING: warning}


def run_key(scheduled: ScheduledRun, attempt: int) -> str:
    return f"{scheduled.task}:{scheduled.name}:{attempt}"


def same_scheduled_run(task: str, name: str, attempt: int) -> Mapping[str, str]:
    """The tags that find the run of one attempt of a scheduled run."""
    return {TASK: task, SLOT: name, ATTEMPT: str(attempt)}
