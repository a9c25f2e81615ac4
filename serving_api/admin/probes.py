"""/datamgr/probe-all: admin, enveloped."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BaseModel, Field

from core.errors import InputError
from platform_assets.datasets.stock_master import StockMaster
from resources.redact import redact
from resources.transport.budget import call_budget
from resources.upstreams.probes import PROBES, Clients, Probe, ProbeTarget
from resources.warehouse.stored import stored
from serving_api.admin.upstreams import Breakers, Counter, Upstreams
from serving_api.db.request_notes import current_security
from serving_api.db.sessions import Session
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import CODE_PATTERN
from serving_api.framework.permissions import Admin
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import transport_state
from serving_api.live.symbols import listed_of


class Probed(BaseModel):
    """One probe: `sample_count` when it succeeded, else `error`."""

    name: str
    ok: bool
    latency_ms: int
    sample_count: int | None = Field(default=None, description="rows of the answer")
    error: str | None = Field(default=None, max_length=200)


class Summary(BaseModel):
    ok: int
    fail: int


class Probes(BaseModel):
    """Counters by upstream and breakers by name, of this machine since its transport state exists."""

    code: str = Field(description="the stock that was asked for")
    sources: list[Probed]
    summary: Summary
    counters: dict[str, Counter]
    breakers: Breakers


MASTER = stored("fusion_stock_master", StockMaster)
USUAL_CODE = "600519"
POOL = 8
ERROR_CHARS = 200
_NO_RETRY = 0.0
"""Probes do not retry: the result is that of the first attempt."""


def _listed_code(session: Session) -> str:
    """The default code if it is listed or no list is stored; else the first of Shanghai, or of the list."""
    c = MASTER.c
    listed = [c.sec_type == "stock", c.list_status.is_(None) | (c.list_status == "L")]
    for also in ([c.code == USUAL_CODE], [c.market == "SH"], []):
        code = session.first(MASTER, "code", *listed, *also, order=[c.code])
        if code is not None:
            return code
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


async def probed(state: State, code: str | None) -> tuple[str, list[dict[str, Any]]]:
    """(the code that was asked for, the result of every probe). Raises InputError for an unknown code."""
    listed = USUAL_CODE if code else await read_or(USUAL_CODE, state.reading.point(_listed_code))
    about = code or listed
    found = await listed_of(state.reading, [about])
    if about not in found:
        raise InputError("code", f"{about!r} is no code of Shanghai, Shenzhen or Beijing")
    day = state.calendar.newest_complete(state.clock.now())
    asked = ProbeTarget(about, found[about].symbol, day, state.calendar.offset(day, -1))
    limit = state.settings.retry_budget_max
    return about, await off_loop(probe_each, PROBES, state.part(live_of).clients.client, asked, limit)


router = area_router(f"{PREFIX}/datamgr/probe-all", "datamgr: probes")


@router.get("", response_model=Probes)
@serves(cache=NO_STORE)
async def probe_all(
    call: Admin,
    code: Annotated[
        str | None,
        Query(
            pattern=CODE_PATTERN,
            description="6-digit code asked about; 600519 or, where that is not "
            "listed, another stock of the list",
        ),
        AfterValidator(current_security),
    ] = None,
) -> Answer:
    """Send every upstream one small request: which ones answer, how fast, and the state of breakers and
    pacing."""
    about, sources = await probed(call.state, code)
    good = sum(1 for reported in sources if reported["ok"])
    seen = await off_loop(transport_state, call.state.settings)
    return Answer(
        {"code": about, "sources": sources, "summary": {"ok": good, "fail": len(sources) - good}}
        | {name: seen[name] for name in Upstreams.model_fields}
    )
