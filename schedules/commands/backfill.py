"""The command `backfill`: missing trade dates of one dataset, loaded in ranges, oldest first.

Level, not edge: what its runs committed is read from the batches, so a backfill that was interrupted,
canceled or resumed goes on with what is left.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from core.calendar import TradeCalendar
from core.errors import InputError
from resources.warehouse.ledger.backfills import Backfill, Backfills
from schedules.commands.command_context import GOING_DOWN, Stopped, Work

JOB = "backfill_{dataset}"
MOST_DATES = 60
"""Trade dates of one run: what a crash costs at most."""


def stretches(days: Sequence[str], calendar: TradeCalendar) -> Iterator[list[str]]:
    """Ascending trade dates as runs of neighbours, at most MOST_DATES each: a range run loads every trade
    date between its ends."""
    stretch: list[str] = []
    for day in days:
        if stretch and (len(stretch) == MOST_DATES or calendar.offset(stretch[-1], 1) != day):
            yield stretch
            stretch = []
        stretch.append(day)
    if stretch:
        yield stretch


def backfill(work: Work) -> dict[str, Any]:
    """Args backfill_id, table (whose batches tell what is loaded). A stretch that fails does not keep the
    later ones out, and is tried once more at the end where its reason may have passed; what is missing then
    makes the backfill partial, or failed when nothing came of it."""
    table = work.args.get("table")
    if not isinstance(table, str):
        raise InputError("table", "names the table whose batches tell what is loaded")
    ledger = Backfills(work.services.engine)
    asked = ledger.get(str(work.args.get("backfill_id")))
    ledger.begin(asked.id, now=work.services.clock.now(), by=work.command)
    going = _Going(work, ledger, asked, table)
    try:
        for days in (going.left, going.worth_another_try):
            for stretch in stretches(days(), work.services.calendar):
                work.check()
                going.load(stretch)
    except Stopped as error:
        if error.message != GOING_DOWN:  # else the command comes back, and goes on
            going.show("canceled")
        raise
    except Exception:
        going.show("failed")
        raise
    left = going.left()
    status = "success" if not left else "partial" if len(left) < len(asked.days) else "failed"
    going.show(status)
    return {**work.facts, "status": status}


class _Going:
    """One backfill in the hands of a worker."""

    def __init__(self, work: Work, ledger: Backfills, asked: Backfill, table: str) -> None:
        self._work = work
        self._ledger = ledger
        self._asked = asked
        self._table = table
        self._failures: dict[str, str] = {}
        self._passing: set[str] = set()
        # Those of the command itself: of a worker that could not end it.
        self._earlier = [*asked.run_ids, *work.facts.get("runs", ())]

    @property
    def _run_ids(self) -> list[str]:
        return list(dict.fromkeys([*self._earlier, *self._work.run_ids]))

    def left(self) -> list[str]:
        """Its trade dates that none of its runs committed."""
        loaded = self._ledger.loaded(self._run_ids, self._table).days
        return [day for day in self._asked.days if day not in loaded]

    def worth_another_try(self) -> list[str]:
        """Those of them that failed for a reason that may have passed by now."""
        return [day for day in self.left() if day in self._passing]

    def load(self, stretch: list[str]) -> None:
        """One run; what it left out has failed with its reason."""
        single = len(stretch) == 1
        self._work.progress(stretch=f"{stretch[0]}..{stretch[-1]}")
        outcome = self._work.run_job(
            JOB.format(dataset=self._asked.dataset),
            partition_key=stretch[0] if single else None,
            partition_range=None if single else (stretch[0], stretch[-1]),
            trigger="backfill",
        )
        loaded = self._ledger.loaded(self._run_ids, self._table).days
        why = outcome.error or f"the run {outcome.run_id} committed nothing for this date"
        missed = [day for day in stretch if day not in loaded]
        self._failures |= dict.fromkeys(missed, why[:500])
        self._failures = {day: text for day, text in self._failures.items() if day not in loaded}
        if not outcome.success and self._ledger.may_pass(outcome.run_id, why):
            self._passing.update(missed)
        self.show("running")

    def show(self, status: str) -> None:
        found = self._ledger.loaded(self._run_ids, self._table)
        self._ledger.show(
            self._asked.id,
            status,
            now=self._work.services.clock.now(),
            done=len(found.days & set(self._asked.days)),
            rows_written=found.rows_written,
            run_ids=self._run_ids,
            failures=self._failures,
            by=self._work.command,
        )
