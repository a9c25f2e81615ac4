"""/datamgr/download: admin, enveloped."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from serving_api.answers import Answer
from serving_api.caching import NO_STORE
from serving_api.datamgr.waiting import LATER, Accepted
from serving_api.datamgr_download import schemas, service
from serving_api.datamgr_download.types import unknown
from serving_api.envelope import PREFIX
from serving_api.parameters import StockCode
from serving_api.permissions import Admin
from serving_api.routing import area_router, serving
from serving_api.state import state_of

router = area_router(f"{PREFIX}/datamgr", "datamgr: downloads")

_SHAPE = schemas.Downloaded | schemas.UnknownType


@router.post("/download/market/northbound")
@serving(schemas.Northbound, cache=NO_STORE)
async def northbound(request: Request, subject: Admin) -> Answer:
    """The market-level northbound download."""
    return Answer(service.northbound())


@router.post("/download/{code}", responses=LATER)
@serving(_SHAPE, top=[("error", str)], cache=NO_STORE)
async def download(
    request: Request,
    subject: Admin,
    code: StockCode,
    types: Annotated[str, Query(min_length=1, max_length=64, description="one of the 38 types, or `all`")],
) -> Answer:
    """Download types of one code and fuse what they feed."""
    return await _download(request, [code], [types], subject.member.username, by_code=False)


@router.post("/download-batch", responses=LATER)
@serving(_SHAPE, top=[("error", str)], cache=NO_STORE)
async def download_batch(request: Request, subject: Admin, body: schemas.BatchRequest) -> Answer:
    """The same for up to 500 codes; every fusion runs once."""
    codes = list(dict.fromkeys(body.codes))
    return await _download(request, codes, body.taskTypes, subject.member.username, by_code=True)


async def _download(
    request: Request, codes: list[str], types: list[str], asked_by: str, *, by_code: bool
) -> Answer:
    stranger = unknown(types)
    if stranger is not None:
        told = {"error": f"unknown type: {stranger}"}
        return Answer({"results": told, **told})
    try:
        found = await service.download(state_of(request), codes, types, asked_by, by_code=by_code)
    except Accepted as later:
        return later.answer
    return Answer(found)
