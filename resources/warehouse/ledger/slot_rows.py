"""One row of the slot ledger, and how it is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

DONE = ("success", "partial")
ENDED = ("success", "partial", "failed", "canceled")
SET_ASIDE = ("skipped", "missed")
STATUSES = ("queued", "running", *ENDED, *SET_ASIDE)

COLUMNS = (
    "id, task_key, slot, slot_at, trade_date, trigger_type, status, reason, attempt, claimed_by, "
    "claimed_at, run_id, command_id, started_at, finished_at"
)


@dataclass(frozen=True)
class SlotRow:
    """One row of the ledger; times are naive local exchange time."""

    id: int
    task_key: str
    slot: str
    slot_at: datetime
    trade_date: str | None
    trigger: str
    status: str
    reason: str | None
    attempt: int
    claimed_by: str | None
    claimed_at: float | None
    run_id: str | None
    command_id: int | None
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def settled(self) -> bool:
        """Nothing will happen to this slot any more unless somebody asks for it."""
        return self.status in ENDED or self.status in SET_ASIDE

    @property
    def duration_s(self) -> float | None:
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


def _time(value: object) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def read_row(values: Sequence[object]) -> SlotRow:
    return SlotRow(
        id=int(str(values[0])),
        task_key=str(values[1]),
        slot=str(values[2]),
        slot_at=datetime.fromisoformat(str(values[3])),
        trade_date=_text(values[4]),
        trigger=str(values[5]),
        status=str(values[6]),
        reason=_text(values[7]),
        attempt=int(str(values[8])),
        claimed_by=_text(values[9]),
        claimed_at=None if values[10] is None else float(str(values[10])),
        run_id=_text(values[11]),
        command_id=None if values[12] is None else int(str(values[12])),
        started_at=_time(values[13]),
        finished_at=_time(values[14]),
    )
