"""/datamgr/fusion/interfaces and call: the catalog over HTTP."""

from typing import Annotated, Any, Literal

from fastapi import Query

from serving_api.datasets.fused import schemas
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import parse_as_of
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.interfaces.catalog import builtin_catalog

router = area_router(f"{PREFIX}/datamgr/fusion", "datamgr: interfaces")

_TOTAL = ("total", int)


@router.get("/interfaces", response_model=list[schemas.Entry])
@serves(top=[_TOTAL])
async def interfaces(call: Anyone) -> Answer:
    """Every read-only interface that `/call` answers."""
    entries = builtin_catalog().entries()
    return Answer({"total": len(entries), "items": entries})


@router.get("/interfaces/search", response_model=list[schemas.Hit])
@serves(top=[_TOTAL])
async def search(
    call: Admin,
    q: Annotated[str, Query(min_length=1, max_length=200, description="English or Chinese words")],
    limit: Annotated[int, Query(ge=1, le=50, description="hits at most")] = 10,
    dimension: Annotated[
        Literal["stock", "timeseries", "market"] | None, Query(description="only interfaces of this kind")
    ] = None,
) -> Answer:
    """Interfaces that match a text, best first."""
    hits = builtin_catalog().search(q, limit, dimension)
    return Answer({"total": len(hits), "items": hits})


@router.post("/call", response_model=object)
@serves(top=[_TOTAL, ("as_of", str), ("first_date", str), ("note", str)], raises=(403, 404))
async def call(call: Anyone, body: schemas.Call) -> Answer:
    """The value of one interface."""
    state = call.state
    catalog = builtin_catalog()
    interface, dataset = catalog.find(body.interface)
    as_of = None if body.as_of is None else parse_as_of(body.as_of, state.clock.now())
    far: dict[str, Any] = {}
    if interface.live:
        answer = await catalog.call_live(state, body.interface, body.params, as_of)
        value, headers = answer.value, answer.headers
    else:
        value, far = await catalog.call(state, body.interface, body.params, as_of)
        headers = (await state.versions.version_of((dataset.table_of(interface).name,))).headers
    total = {"total": len(value)} if isinstance(value, list) else {}
    return Answer(
        {"results": value, **total}, top={"as_of": as_of.echo if as_of else None, **far}, headers=headers
    )
