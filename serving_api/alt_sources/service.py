"""Availability of each alternative source, and its rows. An unavailable source is a normal answer, not an
error."""

import asyncio
from dataclasses import dataclass
from typing import Any

from core.errors import NotFound
from resources.transport.redact import redact
from serving_api.alt_sources.catalogue import ALT_SOURCES, BY_KEY, AltSource
from serving_api.framework.envelope import local_iso
from serving_api.framework.read_failures import DATA_FAILURES
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.frame_values import Row

TTL = 60.0
"""Seconds that a result, good or bad, is shared: anyone may ask, and the site must not get more requests for
it."""
REASON_CHARS = 200


@dataclass(frozen=True)
class Found:
    """Rows of a source; None when it is not available, for `reason`."""

    rows: list[Row] | None
    reason: str | None = None


async def sources(state: State) -> dict[str, Any]:
    """The model AltSources."""
    found = await _all(state)
    items = [
        {
            "key": source.key,
            "name": source.name,
            **_status(source, found[source.key]),
            "description": source.description,
            "fields": list(source.fields),
        }
        for source in ALT_SOURCES
    ]
    return {"items": items, "total": len(items)}


async def overview(state: State) -> dict[str, Any]:
    """The model AltOverview."""
    found = await _all(state)
    items = []
    for source in ALT_SOURCES:
        reported = found[source.key]
        status = "need_credential" if source.credential else "unavailable"
        status = "available" if reported.rows is not None else status
        items.append({"key": source.key, "status": status, **_why(reported)})
    counts = {
        name: sum(1 for item in items if item["status"] == name)
        for name in ("available", "need_credential", "unavailable")
    }
    return {**counts, "items": items, "checked_at": local_iso(state.clock.now())}


async def rows_of(state: State, key: str, limit: int) -> dict[str, Any]:
    """The model AltItems. Raises NotFound."""
    if key not in BY_KEY:
        raise NotFound(f"no alternative source {key[:40]!r}; there are {', '.join(BY_KEY)}")
    reported = await _found(state.part(live_of), BY_KEY[key])
    rows = reported.rows or []
    return {"key": key, **_status(BY_KEY[key], reported), "items": rows[:limit], "total": len(rows)}


def _status(source: AltSource, reported: Found) -> dict[str, Any]:
    wanting = reported.rows is None and source.credential is not None
    return {"available": reported.rows is not None, "need_credential": wanting, **_why(reported)}


def _why(reported: Found) -> dict[str, str]:
    return {} if reported.reason is None else {"reason": reported.reason}


async def _all(state: State) -> dict[str, Found]:
    live = state.part(live_of)
    found = await asyncio.gather(*(_found(live, source) for source in ALT_SOURCES))
    return {source.key: reported for source, reported in zip(ALT_SOURCES, found, strict=True)}


async def _found(live: Live, source: AltSource) -> Found:
    if source.ask is None or source.upstream is None:
        return Found(None, f"{source.name} wants {source.credential}, and none is configured")
    upstream, ask = source.upstream, source.ask

    async def make() -> Found:
        try:
            answer = await live.clients.ask({upstream: ask}, order=(upstream,))
        except DATA_FAILURES as error:
            return Found(None, redact(f"{type(error).__name__}: {error}")[:REASON_CHARS])
        return Found(answer.value)

    landed = await live.single_flight.take(("alt", source.key), TTL, make)
    value: Found = landed.value
    return value
