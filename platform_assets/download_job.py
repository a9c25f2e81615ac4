"""The job `download`: types and codes that somebody asked for through the API, as one run."""

from typing import Any

import dagster as dg

from platform_assets.op_run import ANSWER, opened_run
from platform_assets.pipeline.on_demand import download
from resources.dagster_resources import PlatformResource

JOB = "download"


@dg.op(
    name=ANSWER,
    config_schema={"codes": [str], "types": [str], "date": str},
    out=dg.Out(dict, description="what came of every type, code and fusion"),
)
def download_types(context: dg.OpExecutionContext, platform: PlatformResource) -> dict[str, Any]:
    asked = context.op_config
    with opened_run(context, platform.open(), JOB) as run:
        answer = download(run, asked["codes"], asked["types"], asked["date"])
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
