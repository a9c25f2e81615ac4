"""What surrounds the body of a run: how long it waits for upstreams, and the pipeline run that its batches
belong to."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg

from core.errors import DiskFull, LockLost, PlatformError, StorageError
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources import tracing
from resources.composition import Platform
from resources.logs import bound
from resources.orchestrator import COMMAND_TAG, TASK_TAG, TRIGGER_TAG
from resources.settings import process_settings
from resources.transport.patience import Patience, patient
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger

ANSWER = "answer"
"""The op of a job that gives the answer of its run, and the answer in the metadata of its output."""
BACKFILL = "backfill"
"""The trigger of runs for many dates: waiting costs them less than giving up what falls into the pause."""
LACKS_PARTS = "lacks_parts"
"""In the metadata of a step's failure: which parts of its table are missing; the rest of it is stored."""
AWAY_RETRIES, AWAY_S = 12, 10.0
"""A server that is away is waited for for two minutes, longer than its restart after a crash takes."""
PATIENCE_S = 150.0
"""Longer than the portal's breaker stays open (120 s)."""

_patience_of_run: dict[str, Patience] = {}


def pipeline_run(
    opened: Platform, tags: Mapping[str, str], run_id: str, *, kind: str, ref: str | None, **more: Any
) -> PipelineRun:
    """A pipeline run on `opened`. `kind`: its trigger where no tag names one; `ref`: what its batches name as
    their origin; `more`: further fields of PipelineRun."""
    command = tags.get(COMMAND_TAG)
    return PipelineRun(
        registry=opened.registry,
        warehouse=opened.warehouse,
        ctx=opened.ctx,
        calendar=opened.calendar,
        clock=opened.clock,
        world=opened.settings.world,
        trigger=Trigger(
            kind=tags.get(TRIGGER_TAG, kind),
            ref=ref,
            run_id=run_id,
            command_id=int(command) if command else None,
        ),
        **more,
    )


@contextmanager
def entered(context: dg.OpExecutionContext | dg.AssetExecutionContext, opened: Platform) -> Iterator[None]:
    """The body of a run: its logs name it, and a scheduled run has entered its row; a second Dagster run for
    that row is refused here."""
    tags = context.run.tags
    run_id = context.run.run_id
    with (
        bound(run_id=run_id, command_id=tags.get(COMMAND_TAG), task=tags.get(TASK_TAG)),
        tracing.span(
            f"step {context.op_execution_context.op.name}"
            if isinstance(context, dg.AssetExecutionContext)
            else f"step {context.op.name}",
            attributes={"ashare.run_id": run_id, "ashare.task": tags.get(TASK_TAG)},
            parent=tracing.parent_of_run(run_id, tags),
        ),
    ):
        ScheduledRunLedger(opened.warehouse.engine).enter(run_id, tags, now=opened.clock.now())
        yield


@contextmanager
def opened_run(context: dg.OpExecutionContext, opened: Platform, ref: str) -> Iterator[PipelineRun]:
    """A pipeline run for the op of `context`. A PlatformError of the body becomes a dg.Failure."""
    tags, run_id = context.run.tags, context.run_id
    try:
        with entered(context, opened):
            yield pipeline_run(opened, tags, run_id, kind="manual", ref=ref, progress=context.log.info)
    except PlatformError as error:
        raise dg.Failure(description=error.message, allow_retries=False) from error


def again_when_database_is_back(context: dg.AssetExecutionContext, error: PlatformError) -> None:
    """Has the step begun again after a pause when a database server went away under it: it is restarted, or
    another one takes its place. What the step wrote was rolled back. Returns when that would not help."""
    away = isinstance(error, StorageError) and not isinstance(error, DiskFull | LockLost)
    if away and not process_settings().warehouse_address.startswith("sqlite"):
        context.log.warning(f"the warehouse is away, the step is begun again: {error.message}")
        raise dg.RetryRequested(max_retries=AWAY_RETRIES, seconds_to_wait=AWAY_S) from error


def give(context: dg.OpExecutionContext, answer: Mapping[str, Any], **shown: Any) -> None:
    """Leave the answer of a run where the command worker reads it: in the metadata of the output of its op.
    `shown` stands beside it in the UI."""
    plain = json.loads(json.dumps(answer, ensure_ascii=False, default=str))
    context.add_output_metadata({**shown, ANSWER: dg.MetadataValue.json(plain)})


@contextmanager
def patience_for(trigger: str, run_id: str) -> Iterator[None]:
    """The steps of one run in this process share its patience; other runs have none."""
    if trigger != BACKFILL:
        yield
        return
    if run_id not in _patience_of_run:
        _patience_of_run.clear()  # a process executes one run at a time
        _patience_of_run[run_id] = Patience(PATIENCE_S)
    with patient(_patience_of_run[run_id]):
        yield
