"""The job `download`: types and codes that somebody asked for through the API, as one run."""

from typing import Any

import dagster as dg

from platform_assets.pipeline.on_demand import download
from platform_assets.pipeline.run import PipelineRun, Trigger
from platform_assets.run_stop import canceling
from resources.dagster_resources import PlatformResource
from resources.errors import PlatformError
from resources.logs import bound

JOB = "download"
ANSWER = "answer"
"""Name of the op whose output the command worker takes as the run's answer."""


@dg.op(
    name=ANSWER,
    config_schema={"codes": [str], "types": [str], "date": str},
    out=dg.Out(dict, description="what came of every type, code and fusion"),
)
def download_types(context: dg.OpExecutionContext, platform: PlatformResource) -> dict[str, Any]:
    opened = platform.open()
    tags = context.run.tags
    command = tags.get("app/command_id")
    run = PipelineRun(
        registry=opened.registry,
        warehouse=opened.warehouse,
        desk=opened.desk_of_run(context.run_id),
        calendar=opened.calendar,
        clock=opened.clock,
        trigger=Trigger(
            kind=tags.get("app/trigger", "api"),
            ref=JOB,
            run_id=context.run_id,
            command_id=int(command) if command else None,
        ),
        world=opened.world,
        progress=context.log.info,
    )
    asked = context.op_config
    try:
        with canceling(context), bound(run_id=context.run_id):
            answer = download(run, asked["codes"], asked["types"], asked["date"])
    except PlatformError as error:
        raise dg.Failure(description=error.message, allow_retries=False) from error
    context.add_output_metadata(
        {
            "types": {name: part["status"] for name, part in answer["types"].items()},
            "fusion": answer["fusion"] or "nothing to fuse",
        }
    )
    return answer


@dg.op(name="verdict")
def verdict(answer: dict[str, Any]) -> None:
    """The run fails when every type failed, so that the list of runs shows it."""
    parts = answer["types"].values()
    if all(part["status"] == "failed" for part in parts):
        told = "; ".join(f"{name}: {part['message']}" for name, part in answer["types"].items())
        raise dg.Failure(description=told, allow_retries=False)


@dg.job(name=JOB, description="types and codes that were asked for, and the fusions that they feed")
def download_job() -> None:
    verdict(download_types())
