"""/alt-sources: open to anyone, plain."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from core.clock import local_iso
from core.errors import NotFound
from resources.redact import redact
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import DATA_FAILURES
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.clients import XUEQIU
from serving_api.live.frame_values import Row, number, records, whole


class SourceStatus(BaseModel):
    key: str
    name: str
    available: bool
    need_credential: bool = Field(description="a credential is needed and none is configured")
    reason: str | None = Field(default=None, description="why it is not available")
    description: str
    fields: list[str] = Field(description="columns of its items")


class AltSources(Rows[SourceStatus]):
    """Every alternative source."""


class AltStatus(BaseModel):
    key: str
    status: Literal["available", "need_credential", "unavailable"]
    reason: str | None = None


class AltOverview(BaseModel):
    available: int
    need_credential: int
    unavailable: int
    items: list[AltStatus]
    checked_at: str


class AltItems(Rows[dict[str, Any]]):
    key: str
    available: bool
    need_credential: bool | None = None
    reason: str | None = None
    total: int = Field(description="rows that the source has")


@dataclass(frozen=True)
class AltSource:
    """`credential` names what a source needs (None: nothing). `ask` returns rows, given the client of
    `upstream`."""

    key: str
    name: str
    description: str
    fields: tuple[str, ...]
    credential: str | None = None
    upstream: str | None = None
    ask: Callable[[Any], list[Row]] | None = None


def _hottest(client: Any) -> list[Row]:
    return [
        {
            "code": row["code"], "name": row["name"], "rank": whole(row["rank_no"]),
            "rank_change": whole(row["rank_change"]),
            **{name: number(row[name]) for name in ("heat", "price", "change_pct")},
        }
        for row in records(client.hot_list())
    ]  # fmt: skip


ALT_SOURCES: tuple[AltSource, ...] = (
    AltSource(
        "xueqiu",
        "雪球",
        "社交平台热股榜：关注度最高的 100 只 A 股；价格为元，涨跌幅为百分数",
        ("rank", "code", "name", "heat", "rank_change", "price", "change_pct"),
        upstream=XUEQIU,
        ask=_hottest,
    ),
    AltSource(
        "jisilu",
        "集思录",
        "可转债全表：双低、到期税前收益、强赎进度",
        ("code", "name", "price", "premium_pct", "double_low", "ytm_pct", "redeem_status"),
        credential="the cookie of a login",
    ),
    AltSource(
        "iwencai",
        "问财",
        "自然语言选股：一句话到一张表",
        ("code", "name", "columns"),
        credential="an API key",
    ),
)
BY_KEY = {source.key: source for source in ALT_SOURCES}


TTL = 60.0
"""Seconds that a result, good or bad, is shared: anyone may ask, and the site must not get more requests for
it."""
REASON_CHARS = 200


@dataclass(frozen=True)
class Found:
    """Rows of a source; None when it is not available, for `reason`."""

    rows: list[Row] | None
    reason: str | None = None


router = area_router(f"{PREFIX}/alt-sources", "alternative sources")


@router.get("", response_model=AltSources)
@serves(cache=NO_STORE)
async def alt_sources(call: Anyone) -> Answer:
    """Every alternative source: whether it is available, and if not, why."""
    items = [
        SourceStatus.model_validate({**vars(source), **_status(source, reported)})
        for source, reported in await _all(call.state)
    ]
    return Answer({"items": items, "total": len(items)})


@router.get("/overview", response_model=AltOverview)
@serves(cache=NO_STORE)
async def overview(call: Anyone) -> Answer:
    """How many sources are available, need a credential, or do not answer."""
    counts = dict.fromkeys(("available", "need_credential", "unavailable"), 0)
    items = []
    for source, reported in await _all(call.state):
        status = "need_credential" if source.credential else "unavailable"
        status = "available" if reported.rows is not None else status
        counts[status] += 1
        items.append({"key": source.key, "status": status, **_why(reported)})
    return Answer({**counts, "items": items, "checked_at": local_iso(call.state.clock.now())})


@router.get("/{key}", response_model=AltItems)
@serves(cache=NO_STORE, raises=(404,))
async def alt_items(
    call: Anyone,
    key: Annotated[str, Path(max_length=32, description="key of a source", examples=["xueqiu"])],
    limit: Annotated[int, Query(ge=1, le=100, description="rows at most")] = 50,
) -> Answer:
    """Rows of one source. `available` false: the source is not available; true without items: it has no
    rows."""
    if key not in BY_KEY:
        raise NotFound(f"no alternative source {key[:40]!r}; there are {', '.join(BY_KEY)}")
    reported = await _found(call.state.part(live_of), BY_KEY[key])
    rows = reported.rows or []
    status = _status(BY_KEY[key], reported)
    return Answer({"key": key, **status, "items": rows[:limit], "total": len(rows)})


def _status(source: AltSource, reported: Found) -> dict[str, Any]:
    wanting = reported.rows is None and source.credential is not None
    return {"available": reported.rows is not None, "need_credential": wanting, **_why(reported)}


def _why(reported: Found) -> dict[str, str]:
    return {} if reported.reason is None else {"reason": reported.reason}


async def _all(state: State) -> list[tuple[AltSource, Found]]:
    live = state.part(live_of)
    found = await asyncio.gather(*(_found(live, source) for source in ALT_SOURCES))
    return list(zip(ALT_SOURCES, found, strict=True))


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
