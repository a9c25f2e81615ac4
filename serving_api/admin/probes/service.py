"""All probes in parallel in a pool, in their order; each has its own call budget and its own error."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from core.errors import InputError
from resources.transport.budget import call_budget
from resources.transport.redact import redact
from resources.upstreams.probes import PROBES, Clients, Probe, ProbeTarget
from serving_api.admin.shared import off_loop
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.admin_reads.symbols import listed_of
from serving_api.live.transport_state import transport_state

USUAL_CODE = "600519"
POOL = 8
ERROR_CHARS = 200
_NO_RETRY = 0.0
"""Probes do not retry: the result is that of the first attempt."""


async def probe_all(state: State, code: str | None) -> dict[str, Any]:
    """{code, sources, summary, counters, breakers}. Raises InputError for digits that no exchange gives
    out."""
    listed = USUAL_CODE if code else await read_or(USUAL_CODE, state.reading.point(_listed_code))
    about = code or listed
    found = await listed_of(state.reading, [about])
    if about not in found:
        raise InputError("code", f"{about!r} is no code of Shanghai, Shenzhen or Beijing")
    day = state.calendar.newest_complete(state.clock.now())
    asked = ProbeTarget(about, found[about].symbol, day, state.calendar.offset(day, -1))
    limit = state.settings.retry_budget_max
    sources = await off_loop(probe_each, PROBES, state.part(live_of).clients.client, asked, limit)
    good = sum(1 for reported in sources if reported["ok"])
    seen = await off_loop(transport_state, state.settings)
    return {"code": about, "sources": sources, "summary": {"ok": good, "fail": len(sources) - good}, **seen}


def _listed_code(session: Session) -> str:
    """The default code when it is listed or no list is stored; else the first stock of Shanghai, or of the
    list."""
    listed = "sec_type='stock' AND (list_status IS NULL OR list_status='L')"
    for also in (f" AND code='{USUAL_CODE}'", " AND market='SH'", ""):
        found = session.rows(
            "fusion_stock_master", columns=("code",), where=listed + also, order="code", limit=1
        )
        if found:
            return str(found[0][0])
    return USUAL_CODE


def probe_each(
    probes: Sequence[Probe], clients: Clients, asked: ProbeTarget, limit: int
) -> list[dict[str, Any]]:
    """The result of each probe, in the order of `probes`; `limit` calls each."""
    context = copy_context()
    with ThreadPoolExecutor(max_workers=POOL) as pool:
        return list(pool.map(lambda one: context.copy().run(_probe, one, clients, asked, limit), probes))


def _probe(one: Probe, clients: Clients, asked: ProbeTarget, limit: int) -> dict[str, Any]:
    began = time.monotonic()
    reported: dict[str, Any] = {}
    try:
        with call_budget(limit, retry_within_s=_NO_RETRY):
            rows = len(one.ask(clients, asked))
        if rows or one.may_be_empty:
            reported["sample_count"] = rows
        else:
            reported["error"] = "the answer has no rows"
    except Exception as error:  # whatever breaks one probe must not affect the others
        reported["error"] = redact(f"{type(error).__name__}: {error}")[:ERROR_CHARS]
    spent = int((time.monotonic() - began) * 1000)
    return {"name": one.name, "ok": "error" not in reported, "latency_ms": spent, **reported}
