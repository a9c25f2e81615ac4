"""The jobs `download` and `download_market`: what somebody asked for through the API, each as one run."""

from typing import Any

import dagster as dg

from platform_assets.definitions.resources import RUN_RESOURCES, platform_of
from platform_assets.definitions.run_context import ANSWER, give, opened_run
from platform_assets.definitions.run_lease import lease_for
from platform_assets.pipeline.market_download import download_market
from platform_assets.pipeline.on_demand import download

JOB = "download"
MARKET_JOB = "download_market"


@dg.op(
    required_resource_keys=RUN_RESOURCES,
    config_schema={"codes": [str], "types": [str], "date": str},
    out=dg.Out(dict, description="what came of every type, code and fusion"),
)
def download_types(context: dg.OpExecutionContext) -> dict[str, Any]:
    asked = context.op_config
    with opened_run(context, platform_of(context), JOB) as run:
        answer = download(run, asked["codes"], asked["types"], asked["date"])
    give(
        context,
        answer,
        types={name: part["status"] for name, part in answer["types"].items()},
        fusion=answer["fusion"] or "nothing to fuse",
    )
    return answer


@dg.op
def download_verdict(answer: dict[str, Any]) -> None:
    """The run fails when every type failed, so that the list of runs shows it."""
    parts = answer["types"].values()
    if all(part["status"] == "failed" for part in parts):
        reported = "; ".join(f"{name}: {part['message']}" for name, part in answer["types"].items())
        raise dg.Failure(description=reported, allow_retries=False)


@dg.job(
    name=JOB,
    description="types and codes that were asked for, and the fusions that they feed",
    executor_def=dg.in_process_executor,
)
def download_job() -> None:
    download_verdict(download_types.alias(ANSWER)())


@dg.op(
    required_resource_keys=RUN_RESOURCES,
    config_schema={"name": str, "date": str},
    out=dg.Out(dict, description="what came of the download and its fusions"),
)
def download_topic(context: dg.OpExecutionContext) -> dict[str, Any]:
    asked, opened = context.op_config, platform_of(context)
    with opened_run(context, opened, MARKET_JOB) as run:
        answer = download_market(
            run,
            asked["name"],
            asked["date"],
            lambda domain: lease_for(opened.warehouse.locks, domain, context.run.tags, context.run_id),
        )
    give(context, answer, status=answer["status"], saved=answer["saved"])
    return answer


@dg.op
def market_verdict(answer: dict[str, Any]) -> None:
    """The run fails when the download failed, so that the list of runs shows it."""
    if answer["status"] == "failed":
        raise dg.Failure(description=answer["message"], allow_retries=False)


@dg.job(
    name=MARKET_JOB,
    description="one table of the market as a whole that was asked for",
    executor_def=dg.in_process_executor,
)
def market_download_job() -> None:
    market_verdict(download_topic.alias(ANSWER)())
