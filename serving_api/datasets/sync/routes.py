"""Single syncs: /datamgr/block/sync and two of the fused layer; admin, enveloped."""

from collections.abc import Awaitable
from typing import Any

from serving_api.admin.waiting import LATER, Accepted
from serving_api.datasets.sync import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr", "datamgr: syncs")


async def _answered(work: Awaitable[dict[str, Any]]) -> Answer:
    try:
        return Answer(await work)
    except Accepted as later:
        return later.answer


@router.post("/block/sync", schemas.BlocksSynced, responses=LATER)
async def blocks(call: Admin) -> Answer:
    """Fetch the members of all blocks again; each kind of block is replaced as a whole."""
    return await _answered(service.blocks(call.state, call.member.username))


@router.post("/fusion/index/daily/sync", schemas.IndexSynced, responses=LATER)
async def indices(call: Admin) -> Answer:
    """Fetch the index bars of the newest trade dates and of missing ones before them."""
    return await _answered(service.indices(call.state, call.member.username))


@router.post("/fusion/stock/{code}/kline-bar/sync", schemas.BarsSynced, responses=LATER)
async def bars(call: Admin, code: StockCode) -> Answer:
    """Fetch about 240 week and month bars of a code; quarters and years are derived from the months."""
    return await _answered(service.bars(call.state, code, call.member.username))
