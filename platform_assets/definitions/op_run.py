"""What the op of a job without assets works in: the platform, a run of the pipeline, its way to stop."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from core.errors import PlatformError
from core.stopping import safe_point
from platform_assets.definitions.run_stop import canceling
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources.composition import Platform
from resources.logs import bound
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger

ANSWER = "answer"
"""Name in its job of the op whose output the command worker takes as the run's answer."""


@contextmanager
def opened_run(context: dg.OpExecutionContext, opened: Platform, ref: str) -> Iterator[PipelineRun]:
    """A pipeline run for the op of `context`; a scheduled run enters its row first.
    `ref` is what its batches name as their origin. A PlatformError of the body becomes a dg.Failure."""
    tags = context.run.tags
    command = tags.get("app/command_id")
    try:
        with canceling(context), bound(run_id=context.run_id):
            safe_point()
            ScheduledRunLedger(opened.warehouse.engine).enter(context.run_id, tags, now=opened.clock.now())
            yield PipelineRun(
                registry=opened.registry,
                warehouse=opened.warehouse,
                ctx=opened.ctx,
                calendar=opened.calendar,
                clock=opened.clock,
                trigger=Trigger(
                    kind=tags.get("app/trigger", "manual"),
                    ref=ref,
                    run_id=context.run_id,
                    command_id=int(command) if command else None,
                ),
                world=opened.world,
                progress=context.log.info,
            )
    except PlatformError as error:
        raise dg.Failure(description=error.message, allow_retries=False) from error
