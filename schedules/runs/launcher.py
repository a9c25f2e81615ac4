"""Dagster's launcher for this platform: what the UI starts gets a process by the code server, as ever; what a
worker executes in its run processes is ended by the worker."""

from typing import Any

from dagster import DefaultRunLauncher

from schedules.run_tags import COMMAND


class PlatformRunLauncher(DefaultRunLauncher):
    """The default launcher, with *Terminate* for runs of a worker."""

    def terminate(self, run_id: str) -> Any:
        """Mark the run; its worker sees the mark within a second, and the run ends at its next safe point."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        if COMMAND not in run.tags:
            return super().terminate(run_id)  # type: ignore[no-untyped-call]
        self._instance.report_run_canceling(run)
        return True
