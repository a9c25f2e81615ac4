"""/datamgr/stats. `freshness` is declared before `/{code}`."""

from serving_api.admin.stats import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/stats", "datamgr: statistics")


@router.get("", dict[str, int | schemas.TableCount])
async def stats(call: Admin) -> Answer:
    """Rows and newest change of every monitored table, and `_totalRows`."""
    return Answer(await service.table_stats(call.state))


@router.get("/freshness", schemas.FreshnessReport)
async def freshness(call: Admin) -> Answer:
    """Which tables are older than their rule allows."""
    return Answer(await service.freshness(call.state))


@router.get("/{code}", schemas.CodeStats)
async def code_stats(call: Admin, code: StockCode) -> Answer:
    """Stored rows of one security; an unknown code has zero counts."""
    return Answer(await service.code_stats(call.state, code))


@router.get("/{code}/full", schemas.CodeStats)
async def full_code_stats(call: Admin, code: StockCode) -> Answer:
    """The same as without `/full`."""
    return Answer(await service.code_stats(call.state, code))
