"""Single syncs: /datamgr/block/sync and two of the fused layer; admin, enveloped."""

from collections.abc import Awaitable
from typing import Any

from starlette.requests import Request

from serving_api.admin.waiting import LATER, Accepted
from serving_api.datasets.sync import schemas, service
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr", "datamgr: syncs")


async def _answered(work: Awaitable[dict[str, Any]]) -> Answer:
    try:
        return Answer(await work)
    except Accepted as later:
        return later.answer


@router.post("/block/sync", responses=LATER)
@serving(schemas.BlocksSynced, cache=NO_STORE)
async def blocks(request: Request, subject: Admin) -> Answer:
    """Fetch the members of all blocks again; each kind of block is replaced as a whole."""
    return await _answered(service.blocks(state_of(request), subject.member.username))


@router.post("/fusion/index/daily/sync", responses=LATER)
@serving(schemas.IndexSynced, cache=NO_STORE)
async def indices(request: Request, subject: Admin) -> Answer:
    """Fetch the index bars of the newest trade dates and of missing ones before them."""
    return await _answered(service.indices(state_of(request), subject.member.username))


@router.post("/fusion/stock/{code}/kline-bar/sync", responses=LATER)
@serving(schemas.BarsSynced, cache=NO_STORE)
async def bars(request: Request, subject: Admin, code: StockCode) -> Answer:
    """Fetch about 240 week and month bars of a code; quarters and years are derived from the months."""
    return await _answered(service.bars(state_of(request), code, subject.member.username))
