"""/datamgr/stats. `freshness` is declared before `/{code}`."""

from starlette.requests import Request

from serving_api.admin.stats import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr/stats", "datamgr: statistics")


@router.get("")
@serving(dict[str, int | schemas.TableCount])
async def stats(request: Request, subject: Admin) -> Answer:
    """Rows and newest change of every monitored table, and `_totalRows`."""
    return Answer(await service.table_stats(state_of(request)))


@router.get("/freshness")
@serving(schemas.FreshnessReport)
async def freshness(request: Request, subject: Admin) -> Answer:
    """Which tables are older than their rule allows."""
    return Answer(await service.freshness(state_of(request)))


@router.get("/{code}")
@serving(schemas.CodeStats)
async def code_stats(request: Request, subject: Admin, code: StockCode) -> Answer:
    """Stored rows of one security; an unknown code has zero counts."""
    return Answer(await service.code_stats(state_of(request), code))


@router.get("/{code}/full")
@serving(schemas.CodeStats)
async def full_code_stats(request: Request, subject: Admin, code: StockCode) -> Answer:
    """The same as without `/full`."""
    return Answer(await service.code_stats(state_of(request), code))
