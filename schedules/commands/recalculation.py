"""The command `quant_recalc`: the daily calculations of a date, calculated again because somebody asked."""

from typing import Any

from core.errors import InputError
from schedules import run_tags
from schedules.commands.command_context import Work

WHOLE = "quant_calc"
PARTS = {
    "indicators": "backfill_indicator_daily",
    "patterns": "backfill_pattern_daily",
    "cyq": "backfill_chip_daily",
}
"""Part -> job of the one table."""
SIGNALS = "backfill_signal_hit"
SIGNALLED = frozenset({"indicators", "patterns"})
"""Parts that the stored signals follow from."""


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
    jobs = [PARTS[part] for part in dict.fromkeys(parts)] or [WHOLE]
    return [*jobs, SIGNALS] if SIGNALLED.intersection(parts) else jobs
