"""The command `cleanup`: staged time series shortened now, as a Dagster run."""

from typing import Any

from core.errors import InputError
from schedules.commands.command_context import Work

JOB = "data_cleanup"


def cleanup(work: Work) -> dict[str, Any]:
    """Args days, tables (none = every staged time series). Gives back what each table lost; a table that
    could not be cleaned is part of the answer."""
    days, tables = work.args.get("days"), work.args.get("tables") or []
    if not isinstance(days, int) or days <= 0:
        raise InputError("days", "is a number of days")
    if not isinstance(tables, list) or not all(isinstance(name, str) for name in tables):
        raise InputError("tables", "is a list of texts")
    config = {"days": days, "tables": tables}
    outcome = work.run_job(JOB, trigger="api", run_config={"ops": {"answer": {"config": config}}})
    if outcome.answer is None:
        work.must(outcome, JOB)
    return {**work.facts, "run_id": outcome.run_id, **(outcome.answer or {})}
