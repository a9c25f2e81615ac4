"""The job `corrected_days`: what was stored under days that turned out otherwise is withdrawn, and what is
made from stored tables is made again from the first of them on.

The calendar's correction asks for it (the sensor `gaps`), with the range of trade dates that are concerned.
"""

import dagster as dg

from platform_assets.definitions.jobs import AGAIN
from platform_assets.definitions.one_op_jobs import one_op_job
from platform_assets.definitions.partitions import RANGE_TAGS
from platform_assets.pipeline.load import ASKED_BY
from platform_assets.pipeline.misplaced_rows import withdraw
from platform_assets.pipeline.run import PipelineRun
from resources.composition import Platform
from resources.warehouse.ledger.commands import CommandQueue

JOB = "corrected_days"


@one_op_job(JOB, "withdraw_misplaced_rows", "withdraws rows of days that turned out otherwise")
def corrected_days_job(context: dg.OpExecutionContext, opened: Platform, run: PipelineRun) -> None:
    """Rows under days without trading, and bars of periods that end on another day."""
    withdrawn = withdraw(run)
    context.add_output_metadata({"rows_withdrawn": sum(withdrawn.values()), **withdrawn})
    dates = [context.run.tags[tag] for tag in RANGE_TAGS]
    CommandQueue(opened.warehouse.engine).enqueue(
        "run_job",
        {"job": AGAIN, "partition_range": dates, "trigger": "catchup"},
        requested_by=ASKED_BY,
        idempotency_key=f"corrected:{run.trigger.run_id}",
    )
