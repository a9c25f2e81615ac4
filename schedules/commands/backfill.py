"""Backfills are Dagster's. The command `backfill` asks for one, `BackfillWatch` writes down how it goes.

Which runs load its dates is the assets' policy (`platform_assets/definitions/assets.py`), a run that fails is
tried again as `TAGS` say, and runs of backfills wait for each other (`dagster.yaml`).
"""

import logging
import threading
from dataclasses import replace
from typing import Any

from sqlalchemy.exc import DBAPIError

from core.declaration.registry import builtin_registry
from core.errors import PlatformError
from resources.warehouse.ledger.backfills import Backfill, Backfills
from resources.warehouse.ledger.missing_partitions import table_of
from schedules import run_tags
from schedules.commands.command_context import CANCELED, Work
from schedules.runs.outcome import BackfillFate, JobRunner
from schedules.services import Services

LOOK_S = 3.0
TAGS = {
    run_tags.TRIGGER: "backfill",
    # What somebody waits for goes first.
    "dagster/priority": "-1",
    # Once more what failed, behind the other runs: an upstream or a lock may be free by then.
    "dagster/max_retries": "1",
    "dagster/retry_on_asset_or_op_failure": "true",
}
log = logging.getLogger(__name__)


def backfill(work: Work) -> dict[str, Any]:
    """Args backfill_id. Asks Dagster for the trade dates that no earlier run of the row committed; the
    command ends when Dagster has accepted them."""
    ledger, clock = Backfills(work.services.engine), work.services.clock
    row = ledger.get(str(work.args.get("backfill_id")))
    if row.dagster_id is not None or row.ended:  # a worker that died had come so far
        return {**work.facts, "status": row.status}
    loaded = ledger.loaded(row.run_ids, table_of(builtin_registry().dataset(row.dataset))).days
    days = [day for day in row.days if day not in loaded]
    if not days:  # resumed although its last run had loaded them all
        ledger.settle(row.id, "success", now=clock.now())
        return {**work.facts, "status": "success"}
    tags = {**TAGS, run_tags.TASK: row.dataset}
    dagster_id = work.launch_backfill(row.dataset, days, tags)
    ledger.launched(row.id, dagster_id, now=clock.now())
    if work.stop_wanted() == CANCELED:
        ledger.request_cancel(row.id, now=clock.now())
    return {**work.facts, "dagster_backfill_id": dagster_id, "status": "running"}


class BackfillWatch:
    """Brings the rows of open backfills to what Dagster and the batches of their runs say."""

    def __init__(self, services: Services, runs: JobRunner) -> None:
        self._services = services
        self._ledger = Backfills(services.engine)
        self._runs = runs

    def run(self, stopping: threading.Event) -> None:
        while not stopping.wait(LOOK_S):
            try:
                self.look()
            except (PlatformError, DBAPIError) as error:  # a database is away: the next look tells
                log.info("backfills: %s", error)

    def look(self) -> None:
        """One look at every backfill that Dagster carries out."""
        for row in self._ledger.open():
            if row.dagster_id is not None:
                fate = self._runs.backfill_fate(row.dagster_id, row.days)
                if row.cancel_requested and fate.status == "open":
                    self._runs.cancel_backfill(row.dagster_id)
                self._show(row, fate)

    def _show(self, row: Backfill, fate: BackfillFate) -> None:
        run_ids = tuple(dict.fromkeys([*row.run_ids, *fate.run_ids]))
        loaded = self._ledger.loaded(run_ids, table_of(builtin_registry().dataset(row.dataset)))
        left = [day for day in row.days if day not in loaded.days]
        failures = {day: fate.failures[day][:500] for day in left if day in fate.failures}
        status = "running"
        if fate.status == "canceled":
            status = "canceled"
        elif fate.status == "ended":
            failures = dict.fromkeys(left, f"no run of the backfill {row.dagster_id} loaded it") | failures
            status = "success" if not left else "partial" if len(left) < len(row.days) else "failed"
        now = replace(
            row, status=status, done=len(row.days) - len(left), failed=len(failures),
            rows_written=loaded.rows_written, run_ids=run_ids, failures=failures,
        )  # fmt: skip
        if now != row:
            self._ledger.show(now, at=self._services.clock.now())
