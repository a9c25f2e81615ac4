"""Tags that every run of ours carries, and the keys that make a request unique."""

from collections.abc import Mapping

from platform_assets.definitions.run_lease import CODES_TAG
from resources.warehouse.ledger.tasks import Slot

TASK = "app/task_key"
TRADE_DATE = "app/trade_date"
TRIGGER = "app/trigger"
OWNER = "app/owner"
SLOT = "app/slot"
ATTEMPT = "app/attempt"
COMMAND = "app/command_id"
WARNING = "app/warning"
NO_RETRY = "app/no_retry"
"""Set on a run whose failure only a person can mend: the sensor does not try its slot again."""
CODES = CODES_TAG


def slot_tags(
    slot: Slot, *, trade_date: str, trigger: str, attempt: int, owner: str, warning: str | None
) -> dict[str, str]:
    tags = {
        TASK: slot.task,
        SLOT: slot.name,
        TRADE_DATE: trade_date,
        TRIGGER: trigger,
        ATTEMPT: str(attempt),
        OWNER: owner,
    }
    return tags if warning is None else {**tags, WARNING: warning}


def run_key(slot: Slot, attempt: int) -> str:
    return f"{slot.task}:{slot.name}:{attempt}"


def same_slot(slot_task: str, slot_name: str, attempt: int) -> Mapping[str, str]:
    """The tags that find the run of one attempt of a slot."""
    return {TASK: slot_task, SLOT: slot_name, ATTEMPT: str(attempt)}
