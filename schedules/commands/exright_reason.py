"""The command `exright_reason`: closes an open item of the ledger of ex-rights by a reason, or reopens it."""

from typing import Any

from core.clock import stamp
from core.errors import InputError, PlatformError
from platform_assets.datasets.exright_item import CLOSED, OPEN
from platform_assets.pipeline import exright_reasons as reasons
from schedules import run_tags
from schedules.commands.command_context import Work

JOB = "fusion_kline_sync"
"""Its run looks at the item again, and has the bars repaired that do not fit it any more."""


def exright_reason(work: Work) -> dict[str, Any]:
    """Args code, date, reason and counts (whether the quoted ratio stays in the factor); a reason of null
    withdraws the one that is there. Gives back the item's status."""
    engine, now = work.services.engine, stamp(work.services.clock.now())
    code, date, reason = (work.args.get(name) for name in ("code", "date", "reason"))
    if not isinstance(code, str) or not isinstance(date, str):
        raise InputError("code", "names the item together with date")
    if reason is None:
        if not reasons.withdraw(engine, code, date, now):
            raise InputError("date", f"no reason is recorded of {code} on {date}")
        wanted = OPEN
    else:
        if reasons.status_of(engine, code, date) != OPEN:
            raise InputError("date", f"{code} has no open item of {date}")
        reasons.keep(engine, code, date, str(reason), bool(work.args.get("counts")), now)
        wanted = CLOSED
    outcome = work.run_job(JOB, partition_key=work.date, trigger="api", tags={run_tags.CODES: code})
    status = reasons.status_of(engine, code, date)
    if status != wanted:
        work.must(outcome, JOB)
        raise PlatformError(f"the item of {code} on {date} is {status or 'not there'}, not {wanted}")
    return {**work.facts, "run_id": outcome.run_id, "status": status}
