"""The ledger of gaps (`sys_gap`): trade dates that are not loaded, and what is done about them.

    open -> queued -> repaired | open (later, once more) | given_up

A gap that turns up again after it was closed is opened again, with its attempts counted from 0.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.engine import Connection

from core.clock import stamp
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.missing_partitions import MissingPartition
from resources.warehouse.records import record
from resources.warehouse.sql import Ledger
from resources.warehouse.stored import ANY, Where, matching, select, update

OPEN, QUEUED, REPAIRED, GIVEN_UP = "open", "queued", "repaired", "given_up"
STATUSES = (OPEN, QUEUED, REPAIRED, GIVEN_UP)
MOST_ATTEMPTS = 3
CALLS_PER_DAY = 2_000
"""Upstream calls that repairs may cost on one day."""
MOST_CODES = 100
REPAIRED_BY = "gaps"
"""The requester of repair backfills."""
_FIRST_PAUSE = timedelta(hours=1)
_COLUMNS = (
    "dataset", "partition_key", "expected", "present", "codes_json", "reason", "status", "attempts",
    "run_id", "next_at", "note", "backfill_id",
)  # fmt: skip


@dataclass(frozen=True)
class Gap:
    """One gap as the ledger knows it."""

    dataset: str
    partition: str
    expected: int | None
    present: int
    codes: tuple[str, ...]
    reason: str
    status: str
    attempts: int
    run_id: str | None
    next_at: str | None
    note: str | None
    backfill_id: str | None


class Gaps(Ledger):
    """Every method is one transaction."""

    def of(self, dataset: str | None = None) -> dict[tuple[str, str], Gap]:
        """(dataset, trade date) -> gap, also closed ones."""
        own = select("sys_gap", *(ANY[name] for name in _COLUMNS)).where(*matching(ANY.dataset, dataset))
        found = [record(Gap, row) for row in self._sql.rows(own)]
        return {(gap.dataset, gap.partition): gap for gap in found}

    def observe(
        self,
        dataset: str,
        since: str,
        missing_partitions: Sequence[tuple[MissingPartition, Sequence[str]]],
        *,
        now: datetime,
    ) -> None:
        """What is missing from the date `since` on: new gaps are opened, those that are gone are closed."""
        known = {day: gap for (_, day), gap in self.of(dataset).items()}
        seen = {absent.partition for absent, _ in missing_partitions}
        at = stamp(now)
        with transaction(self._engine) as connection:
            for absent, codes in missing_partitions:
                facts = _facts(absent, codes)
                gap = known.get(absent.partition)
                if gap is None:
                    opened = {"dataset": dataset, "partition_key": absent.partition, **facts, "status": OPEN}
                    opened |= {"attempts": 0, "detected_at": at, "created_at": at, "updated_at": at}
                    self._sql.put(connection, "sys_gap", opened)
                    continue
                if gap.status == REPAIRED:
                    facts |= {"status": OPEN, "attempts": 0, "next_at": None, "closed_at": None,
                              "detected_at": at, "note": None, "backfill_id": None}  # fmt: skip
                self._set(connection, dataset, absent.partition, at, facts)
            for day, gap in known.items():
                if day >= since and day not in seen and gap.status != REPAIRED:
                    self._set(connection, dataset, day, at, {"status": REPAIRED, "closed_at": at})

    def queue(self, dataset: str, days: Sequence[str], backfill_id: str, *, now: datetime) -> None:
        """Mark the dates that a backfill loads; after a failure they wait, longer each time. A gap that has
        been closed since it was looked up is left alone."""
        at = stamp(now)
        with transaction(self._engine) as connection:
            for day in days:
                queued = {"status": QUEUED, "attempts": ANY.attempts + 1, "backfill_id": backfill_id}
                self._set(connection, dataset, day, at, queued, ANY.status == OPEN)

    def settle(self, gap: Gap, why: str, run_id: str | None, *, now: datetime) -> None:
        """A repair ended and the date is still missing: once more later, or given up. A gap that was closed
        or queued again since it was read is left alone."""
        values: dict[str, Any] = {"note": why[:255], "run_id": run_id}
        if gap.attempts >= MOST_ATTEMPTS:
            values |= {"status": GIVEN_UP, "next_at": None, "closed_at": stamp(now)}
        else:
            pause = _FIRST_PAUSE * 4 ** max(gap.attempts - 1, 0)
            values |= {"status": OPEN, "next_at": stamp(now + pause)}
        with transaction(self._engine) as connection:
            same = [ANY.status == QUEUED, ANY.backfill_id == gap.backfill_id]
            self._set(connection, gap.dataset, gap.partition, stamp(now), values, *same)

    def _set(
        self,
        connection: Connection,
        dataset: str,
        day: str,
        at: str,
        values: dict[str, Any],
        *where: Where,
    ) -> None:
        own = [ANY.dataset == dataset, ANY.partition_key == day]
        connection.execute(update("sys_gap", {**values, "updated_at": at}, *own, *where))


def _facts(absent: MissingPartition, codes: Sequence[str]) -> dict[str, Any]:
    missing = None if absent.expected is None else max(absent.expected - absent.present, 0)
    return {
        "expected": absent.expected,
        "present": absent.present,
        "missing": missing,
        "codes_json": json.dumps(list(codes[:MOST_CODES])),
        "reason": absent.reason,
    }
