"""What the worker can do: command name -> handler. A new command is a new line of `HANDLERS`."""

from typing import Any

from core.errors import InputError
from platform_assets.definitions.run_lease import LEASE_TAG, lease_tag
from resources.warehouse.locks import DOMAINS
from schedules import run_tags
from schedules.commands.backfill import backfill
from schedules.commands.command_context import Handler, Work
from schedules.commands.download import cleanup, download, download_market
from schedules.commands.initial_load import calculations, initial_load
from schedules.commands.recalculation import quant_recalc

CODES_JOB = "fusion_codes"
FUSION_JOBS = ("fusion_kline_sync", "fusion_daily_sync", "fusion_wide_sync")


def run_job(work: Work) -> dict[str, Any]:
    """Command `run_job`: args job, partition_key or partition_range [start, end], run_config?, tags?."""
    job = work.args.get("job")
    if not isinstance(job, str) or not job:
        raise InputError("job", "names the job to run")
    requested = work.args.get("partition_range")
    if requested is not None and (not isinstance(requested, list) or len(requested) != 2):
        raise InputError("partition_range", "is a pair [start, end]")
    outcome = work.run_job(
        job,
        partition_key=work.args.get("partition_key"),
        partition_range=None if requested is None else (str(requested[0]), str(requested[1])),
        trigger=str(work.args.get("trigger", "manual")),
        tags=work.args.get("tags"),
        run_config=work.args.get("run_config"),
    )
    work.must(outcome, job)
    return {**work.facts, "run_id": outcome.run_id}


def fusion_sync(work: Work) -> dict[str, Any]:
    """Command `fusion_sync`: the three fusion jobs of a trade date (`date`, default the newest complete
    one). The full market takes all three domain locks together, or fails with ConflictError before
    anything runs; `result.locked` says that it holds them. `codes` (<= 500) take no lock beforehand, and are
    no run of the tasks of the day: a job of their own, of the tables that have codes."""
    date, codes = work.date, work.codes
    if codes:
        return _fuse(work, date, {run_tags.CODES: ",".join(codes)}, (CODES_JOB,))
    with work.services.locks.held(DOMAINS, f"command:{work.command.id}") as lease:
        work.progress(locked=True)
        return _fuse(work, date, {LEASE_TAG: lease_tag(lease)})


def _fuse(
    work: Work, date: str, carried: dict[str, str], jobs: tuple[str, ...] = FUSION_JOBS
) -> dict[str, Any]:
    """All the jobs, also when one fails: the domains do not need each other to be of use."""
    results: dict[str, str] = {}
    failures = []
    for job in jobs:
        if not work.runner.has(job):
            continue
        work.check()
        outcome = work.run_job(job, partition_key=date, trigger="api", tags=carried)
        results[job] = "success" if outcome.success else "failed"
        if not outcome.success:
            failures.append((job, outcome))
        work.progress(jobs=results, date=date)
    for job, outcome in failures:
        work.must(outcome, job)
    return dict(work.facts)


HANDLERS: dict[str, Handler] = {
    "run_job": Handler(run_job),
    "download": Handler(download),
    "download_market": Handler(download_market),
    "backfill": Handler(backfill, long=True),
    "cleanup": Handler(cleanup, long=True),
    "fusion_sync": Handler(fusion_sync, long=True),
    "initial_load": Handler(initial_load, long=True),
    "calculations": Handler(calculations, long=True),
    "quant_recalc": Handler(quant_recalc, long=True),
}
