"""Rows that a load found to be wrong elsewhere are loaded again, by a command of the worker."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from platform_assets.pipeline.run import PipelineRun
from resources.warehouse.ledger.commands import CommandQueue

CODES_TAG = "app/codes"
ASKED_BY = "reconcile"


def ask_repairs(
    run: PipelineRun,
    job: str,
    found: Callable[[pd.DataFrame], Mapping[str, Sequence[str]]],
    *,
    frames: Sequence[pd.DataFrame],
) -> None:
    """One command per trade date and codes, ever: what a second load does not mend is for a person. The trade
    date before is loaded with it, since the fault may lie on either side."""
    queue = CommandQueue(run.warehouse.engine)
    for frame in frames:
        for day, codes in found(frame).items():
            named = ",".join(codes)
            dates = [run.calendar.offset(day, -1), day]
            args = {"job": job, "partition_range": dates, "trigger": "catchup", "tags": {CODES_TAG: named}}
            mark = hashlib.sha256(f"{job} {day} {named}".encode()).hexdigest()[:32]
            queue.enqueue("run_job", args, requested_by=ASKED_BY, idempotency_key=f"repair:{mark}")
            run.progress(f"{job} of {day} is asked for again, for {named}")
