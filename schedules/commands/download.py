"""The commands whose Dagster run gives an answer back: `download`, `download_market`, `cleanup`. A part that
failed is part of the answer."""

from typing import Any

from core.errors import InputError
from schedules.commands.command_context import Work

JOB = "download"
MARKET_JOB = "download_market"
CLEANUP_JOB = "data_cleanup"


def download(work: Work) -> dict[str, Any]:
    """Args codes (1..500), types, date? (default the newest complete trade date). Gives back what came of
    every type and code and of the fusions."""
    given = {"codes": work.codes, "types": work.texts("types")}
    for name, texts in given.items():
        if not texts:
            raise InputError(name, "is a list of at least one text")
    date = work.date
    return {"date": date, **work.answer_of(JOB, **given, date=date)}


def download_market(work: Work) -> dict[str, Any]:
    """Args name (of a topical downloader), date? (default the newest complete trade date). Gives back what
    came of it."""
    name = work.args.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("name", "names the download")
    date = work.date
    return {"date": date, **work.answer_of(MARKET_JOB, name=name, date=date)}


def cleanup(work: Work) -> dict[str, Any]:
    """Staged time series shortened now. Args days, tables (none = every staged time series). Gives back what
    each table lost."""
    days = work.args.get("days")
    if not isinstance(days, int) or days <= 0:
        raise InputError("days", "is a number of days")
    return work.answer_of(CLEANUP_JOB, days=days, tables=work.texts("tables"))
