"""Runs of commands: launched by Dagster over GraphQL, as the UI does it, and looked up in its storage."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import sqlalchemy as sa
from dagster import DagsterInstance, RunsFilter

from core.errors import NotFound, Unavailable
from resources.orchestrator import PARTITION, Orchestrator
from schedules import run_tags
from schedules.runs.assets import dated_assets
from schedules.runs.outcome import BackfillFate, RunFate, RunOptions
from schedules.runs.records import UNFINISHED, DagsterRuns


class LaunchedRuns:
    """The runs of one deployment: its webserver launches and terminates them, `instance` knows them."""

    def __init__(self, orchestrator: Orchestrator, instance: DagsterInstance) -> None:
        self._orchestrator = orchestrator
        self._instance = instance
        self._records = DagsterRuns(instance)

    def launch(self, job: str, **how: Unpack[RunOptions]) -> str:
        day = how.get("partition_key")
        mark = {run_tags.LAUNCH: uuid.uuid4().hex}
        tags = {**(how.get("tags") or {}), **({PARTITION: day} if day else {}), **mark}
        try:
            return self._orchestrator.launch(job, tags, how.get("run_config") or {}, dated_assets(job))
        except Unavailable:
            # An answer that was lost: the run is there all the same.
            records = self._instance.get_run_records(RunsFilter(tags=mark), limit=1)
            if not records:
                raise
            return records[0].dagster_run.run_id

    def launch_backfill(self, dataset: str, days: Sequence[str], title: str, tags: Mapping[str, str]) -> str:
        for known in self._instance.get_backfills(limit=100):
            if known.title == title:  # an answer, or a worker, was lost
                return known.backfill_id
        try:
            return self._orchestrator.launch_backfill(dated_assets(dataset), days, title, tags)
        except NotFound as error:
            raise Unavailable(f"not served yet: {error.message}") from error

    def backfill_fate(self, backfill_id: str, days: Sequence[str]) -> BackfillFate:
        return self._records.backfill_fate(backfill_id, days)

    def cancel_backfill(self, backfill_id: str) -> None:
        self._orchestrator.cancel_backfill(backfill_id)

    def fate(self, run_id: str) -> RunFate | None:
        try:
            return self._records.fate(run_id)
        except sa.exc.DBAPIError:
            return RunFate("open")  # busy or away: asked again at the next look

    def answer(self, run_id: str) -> Any:
        return self._records.answer(run_id)

    def terminate(self, run_id: str) -> None:
        self._orchestrator.terminate(run_id)

    def open_runs(self, command_id: int) -> list[str]:
        found = RunsFilter(tags={run_tags.COMMAND: str(command_id)}, statuses=list(UNFINISHED))
        return [record.dagster_run.run_id for record in self._instance.get_run_records(found)]
