"""The commands `download` and `download_market`: what the API was asked for, as a Dagster run."""

from typing import Any

from core.errors import InputError
from schedules.commands.command_context import Work
from schedules.commands.initial_load import newest_complete

JOB = "download"
MARKET_JOB = "download_market"
MAX_CODES = 500


def download(work: Work) -> dict[str, Any]:
    """Args codes (1..500), types, date? (default the newest complete trade date). Gives back what came of
    every type and code and of the fusions; a part that failed is part of the answer."""
    codes, types = _texts(work, "codes"), _texts(work, "types")
    if len(codes) > MAX_CODES:
        raise InputError("codes", f"{len(codes)} given, {MAX_CODES} are allowed")
    services = work.services
    date = str(work.args.get("date") or newest_complete(services.clock.now(), services.calendar))
    outcome = work.run_job(
        JOB,
        trigger="api",
        run_config={"ops": {"answer": {"config": {"codes": codes, "types": types, "date": date}}}},
    )
    if outcome.answer is None:
        work.must(outcome, JOB)
    return {**work.facts, "run_id": outcome.run_id, "date": date, **(outcome.answer or {})}


def download_market(work: Work) -> dict[str, Any]:
    """Args name (of a topical downloader), date? (default the newest complete trade date). Gives back what
    came of it; a download that failed is an answer."""
    name = work.args.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("name", "names the download")
    services = work.services
    date = str(work.args.get("date") or newest_complete(services.clock.now(), services.calendar))
    outcome = work.run_job(
        MARKET_JOB,
        trigger="api",
        run_config={"ops": {"answer": {"config": {"name": name, "date": date}}}},
    )
    if outcome.answer is None:
        work.must(outcome, MARKET_JOB)
    return {**work.facts, "run_id": outcome.run_id, "date": date, **(outcome.answer or {})}


def _texts(work: Work, name: str) -> list[str]:
    given = work.args.get(name)
    if not isinstance(given, list) or not given or not all(isinstance(item, str) for item in given):
        raise InputError(name, "is a list of at least one text")
    return list(dict.fromkeys(given))
