"""The job `data_cleanup`: staged time series shortened, on schedule or because somebody asked."""

from typing import Any

import dagster as dg

from platform_assets.op_run import ANSWER, opened_run
from platform_assets.pipeline.cleanup import cleanup
from resources.dagster_resources import PlatformResource
from resources.stored_settings import read_stored
from resources.warehouse.retention import scheduled_days

JOB = "data_cleanup"


@dg.op(
    config_schema={
        "days": dg.Field(int, default_value=0, description="days that are kept; 0 = as the settings say"),
        "tables": dg.Field([str], default_value=[], description="none = every staged time series"),
    },
    out=dg.Out(dict, description="rows that each table lost"),
)
def clean_up(context: dg.OpExecutionContext, platform: PlatformResource) -> dict[str, Any]:
    with opened_run(context, platform.open(), JOB) as run:
        asked = context.op_config
        days = asked["days"] or scheduled_days(read_stored(run.warehouse.engine))
        answer = cleanup(run, days=days, tables=asked["tables"])
    context.add_output_metadata({name: answer[name] for name in ("cutoff", "total", "deleted")})
    return answer


@dg.op
def cleanup_verdict(answer: dict[str, Any]) -> None:
    """The run fails when a table could not be cleaned, so that the list of runs shows it."""
    if answer["status"] != "success":
        raise dg.Failure(description=answer["message"])


@dg.job(
    name=JOB,
    description="deletes staged time series older than the retention; fused tables stay whole",
    # A job that a sensor starts brings its own: attached later, Dagster would copy sensor and schedule.
    resource_defs={"platform": PlatformResource()},
)
def cleanup_job() -> None:
    cleanup_verdict(clean_up.alias(ANSWER)())
