"""Runs of commands that have ended when they are launched, as a test says."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from schedules.runs.outcome import BackfillFate, RunFate


class EndedRuns:
    """A JobRunner without Dagster. A subclass says in `run` how a run ends."""

    def __init__(self) -> None:
        self.fates: dict[str, RunFate] = {}
        self.terminated: list[str] = []
        self.left: list[str] = []
        """Runs that an earlier worker left at work; one that is terminated has ended."""

    def run(self, job: str, run_id: str, partition_key: str | None, tags: Mapping[str, str]) -> RunFate:
        raise NotImplementedError

    def launch(
        self, job: str, *, partition_key: str | None = None, tags: Any = None, run_config: Any = None
    ) -> str:
        run_id = str(uuid.uuid4())
        self.fates[run_id] = self.run(job, run_id, partition_key, dict(tags or {}))
        return run_id

    def launch_backfill(self, dataset: str, days: Sequence[str], title: str, tags: Mapping[str, str]) -> str:
        raise NotImplementedError

    def backfill_fate(self, backfill_id: str, days: Sequence[str]) -> BackfillFate:
        raise NotImplementedError

    def cancel_backfill(self, backfill_id: str) -> None:
        raise NotImplementedError

    def fate(self, run_id: str) -> RunFate | None:
        return self.fates.get(run_id)

    def answer(self, run_id: str) -> Any:
        return None

    def terminate(self, run_id: str) -> None:
        self.terminated.append(run_id)
        self.fates[run_id] = RunFate("canceled")
        self.left = [left for left in self.left if left != run_id]

    def open_runs(self, command_id: int) -> list[str]:
        return list(self.left)
