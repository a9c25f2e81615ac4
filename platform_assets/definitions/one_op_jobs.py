"""Jobs of one op that the scheduler starts."""

from collections.abc import Callable

import dagster as dg

from platform_assets.definitions.resources import RUN_RESOURCES, platform_of, run_resources
from platform_assets.definitions.run_context import opened_run
from platform_assets.pipeline.run import PipelineRun
from resources.composition import Platform

Body = Callable[[dg.OpExecutionContext, Platform, PipelineRun], None]


def one_op_job(name: str, op: str, about: str) -> Callable[[Body], dg.JobDefinition]:
    """Makes the job `name`, whose `op` is the decorated function."""

    def made(body: Body) -> dg.JobDefinition:
        @dg.op(name=op, description=body.__doc__, required_resource_keys=RUN_RESOURCES)
        def run_body(context: dg.OpExecutionContext) -> None:
            opened = platform_of(context)
            with opened_run(context, opened, name) as run:
                body(context, opened, run)

        # A job that a sensor starts brings its own resources: attached later, Dagster would copy sensor and
        # schedule.
        @dg.job(
            name=name,
            description=about,
            resource_defs=run_resources(),
            # Nothing to share out among step workers.
            executor_def=dg.in_process_executor,
        )
        def job() -> None:
            run_body()

        return job

    return made
