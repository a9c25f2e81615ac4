"""What the worker can do: command name -> handler. A new command is a new line of `HANDLERS`."""

from typing import Any

from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.definitions.run_lease import LEASE_TAG, lease_tag
from resources.warehouse.ledger.watch_list import LOAD_WATCHED
from resources.warehouse.locks import DOMAINS
from schedules import run_tags
from schedules.commands.backfill import backfill
from schedules.commands.command_context import Handler, Work
from schedules.commands.exright_reason import exright_reason
from schedules.commands.initial_load import calculations, initial_load
from schedules.commands.watched import load_watched

CODES_JOB = "fusion_codes"
DOWNLOAD_JOB, MARKET_JOB, CLEANUP_JOB = "download", "download_market", "data_cleanup"
"""Jobs whose run gives an answer back; a part that failed is part of it."""
QUANT_JOB = "quant_calc"
PARTS = {
    "indicators": "indicator_daily",
    "patterns": "pattern_daily",
    "cyq": "chip_daily",
}
"""Part -> dataset of the one table."""
SIGNALS = "signal_hit"
SIGNALLED = frozenset({"indicators", "patterns"})
"""Parts that the stored signals follow from."""
FUSION_JOBS = ("fusion_kline_sync", "fusion_daily_sync", "fusion_wide_sync")


def run_job(work: Work) -> dict[str, Any]:
    """Command `run_job`: args job (or the name of a dataset with trade dates), partition_key or
    partition_range [start, end], run_config?, tags?."""
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
        work.check()
        outcome = work.run_job(job, partition_key=date, trigger="api", tags=carried)
        results[job] = "success" if outcome.success else "partial" if outcome.partial else "failed"
        if not outcome.success:
            failures.append((job, outcome))
        work.progress(jobs=results, date=date)
    for job, outcome in failures:
        work.must(outcome, job)
    return dict(work.facts)


def download(work: Work) -> dict[str, Any]:
    """Args codes (1..500), types, date? (default the newest complete trade date). Gives back what came of
    every type and code and of the fusions."""
    given = {"codes": work.codes, "types": work.texts("types")}
    for name, texts in given.items():
        if not texts:
            raise InputError(name, "is a list of at least one text")
    date = work.date
    return {"date": date, **work.answer_of(DOWNLOAD_JOB, **given, date=date)}


def download_market(work: Work) -> dict[str, Any]:
    """Args name (of a topical downloader), date? (default the newest complete trade date). Gives back what
    came of it."""
    name = work.args.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("name", "names the download")
    raw = builtin_registry().topical.get(name)
    services = work.services
    date = work.date
    if raw is not None and not work.args.get("date"):
        days = builtin_registry().trade_days[raw.table_name]
        date = days.newest(services.clock.now(), services.calendar)
    return {"date": date, **work.answer_of(MARKET_JOB, name=name, date=date)}


def cleanup(work: Work) -> dict[str, Any]:
    """Staged time series shortened now. Args days, tables (none = every staged time series). Gives back what
    each table lost."""
    days = work.args.get("days")
    if not isinstance(days, int) or days <= 0:
        raise InputError("days", "is a number of days")
    return work.answer_of(CLEANUP_JOB, days=days, tables=work.texts("tables"))


def quant_recalc(work: Work) -> dict[str, Any]:
    """Args date? (default the newest complete trade date), codes? (<= 500), parts? (default: the whole
    task, with signals and strategies). Signals are calculated again with what they follow from."""
    date, codes, parts = work.date, work.codes, work.texts("parts")
    unknown = next((part for part in parts if part not in PARTS), None)
    if unknown is not None:
        raise InputError("parts", f"{unknown[:40]!r} is none of {', '.join(PARTS)}")
    carried = {run_tags.CODES: ",".join(codes)} if codes else {}
    for job in _jobs(parts):
        work.check()
        outcome = work.run_job(job, partition_key=date, trigger="api", tags=carried)
        work.must(outcome, job)
    return {**work.facts, "date": date}


def _jobs(parts: list[str]) -> list[str]:
    jobs = [PARTS[part] for part in dict.fromkeys(parts)] or [QUANT_JOB]
    return [*jobs, SIGNALS] if SIGNALLED.intersection(parts) else jobs


HANDLERS: dict[str, Handler] = {
    "run_job": Handler(run_job),
    "download": Handler(download),
    "download_market": Handler(download_market),
    "backfill": Handler(backfill),
    "cleanup": Handler(cleanup, long=True),
    "exright_reason": Handler(exright_reason),
    "fusion_sync": Handler(fusion_sync, long=True),
    LOAD_WATCHED: Handler(load_watched, long=True),
    "initial_load": Handler(initial_load, long=True),
    "calculations": Handler(calculations, long=True),
    "quant_recalc": Handler(quant_recalc, long=True),
}
