"""How a run ends that was asked to stop: canceled in Dagster, not failed."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from dagster import DagsterExecutionInterruptedError

from core.stopping import StopAsked


@contextmanager
def canceling(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> Iterator[None]:
    """Turns StopAsked into the interruption by which Dagster ends a run as canceled."""
    try:
        yield
    except StopAsked as error:
        run = context.instance.get_run_by_id(context.run.run_id)
        if run is not None and run.status is not dg.DagsterRunStatus.CANCELING and not run.is_finished:
            # Without this an interruption counts as a failure.
            context.instance.report_run_canceling(run, message=f"Asked to stop: {error.reason}")
        raise DagsterExecutionInterruptedError(error.reason) from error
