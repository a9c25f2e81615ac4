"""All probes side by side: in a pool, in their order, each with its own budget and its own failure."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from resources.errors import InputError
from resources.settings import Settings
from resources.transport.budget import call_budget
from resources.transport.gates import SqliteGate
from resources.transport.redact import redact
from resources.transport.settings import EM_BREAKER, PUSH2EX_BREAKER
from resources.upstreams.factory import transport_settings
from resources.upstreams.probes import PROBES, Clients, Probe, Question
from serving_api.datamgr.schedule.control import newest_complete
from serving_api.datamgr.shared import off_loop
from serving_api.datamgr_live.service import live_of
from serving_api.datamgr_live.symbols import listed_of
from serving_api.state import State

POOL = 8
ERROR_CHARS = 200
_NO_RETRY = 0.0
"""A probe tells how its first try ended."""


async def probe_all(state: State, code: str) -> dict[str, Any]:
    """{sources, summary, counters, breakers}. Raises InputError for digits that no exchange gives out."""
    found = await listed_of(state.reading, [code])
    if code not in found:
        raise InputError("code", f"{code!r} is no code of Shanghai, Shenzhen or Beijing")
    day = newest_complete(state.clock.now(), state.calendar)
    asked = Question(code, found[code].symbol, day, state.calendar.offset(day, -1))
    limit = state.settings.retry_budget_max
    sources = await off_loop(probe_each, PROBES, state.part(live_of).clients.client, asked, limit)
    good = sum(1 for told in sources if told["ok"])
    seen = await off_loop(_gate_of, state.settings)
    return {"sources": sources, "summary": {"ok": good, "fail": len(sources) - good}, **seen}


def probe_each(
    probes: Sequence[Probe], clients: Clients, asked: Question, limit: int
) -> list[dict[str, Any]]:
    """What each probe found, in the order of `probes`; `limit` calls each."""
    context = copy_context()
    with ThreadPoolExecutor(max_workers=POOL) as pool:
        return list(pool.map(lambda one: context.copy().run(_probe, one, clients, asked, limit), probes))


def _probe(one: Probe, clients: Clients, asked: Question, limit: int) -> dict[str, Any]:
    began = time.monotonic()
    told: dict[str, Any] = {}
    try:
        with call_budget(limit, retry_within_s=_NO_RETRY):
            rows = len(one.ask(clients, asked))
        if rows or one.may_be_empty:
            told["sample_count"] = rows
        else:
            told["error"] = "the answer has no rows"
    except Exception as error:  # whatever breaks one probe must leave the others whole
        told["error"] = redact(f"{type(error).__name__}: {error}")[:ERROR_CHARS]
    spent = int((time.monotonic() - began) * 1000)
    return {"name": one.name, "ok": "error" not in told, "latency_ms": spent, **told}


def _gate_of(settings: Settings) -> dict[str, Any]:
    """Counters and breakers of the machine, which all processes share."""
    gate = SqliteGate(settings.data_path / "transport.sqlite3", transport_settings(settings))
    try:
        held = gate.breakers()
        shown = {name: held[name] for name in (EM_BREAKER, PUSH2EX_BREAKER)}
        return {"counters": gate.counters(), "breakers": shown}
    finally:
        gate.close()
