"""/alt-sources: open to anyone, plain."""

from typing import Annotated

from fastapi import Path, Query

from serving_api.alt_sources import schemas, service
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/alt-sources", "alternative sources")


@router.get("", schemas.AltSources, cache=NO_STORE)
async def alt_sources(call: Anyone) -> Answer:
    """Every alternative source: whether it is available, and if not, why."""
    return Answer(await service.sources(call.state))


@router.get("/overview", schemas.AltOverview, cache=NO_STORE)
async def overview(call: Anyone) -> Answer:
    """How many sources are available, need a credential, or do not answer."""
    return Answer(await service.overview(call.state))


@router.get("/{key}", schemas.AltItems, cache=NO_STORE, raises=(404,))
async def alt_items(
    call: Anyone,
    key: Annotated[str, Path(max_length=32, description="key of a source", examples=["xueqiu"])],
    limit: Annotated[int, Query(ge=1, le=100, description="rows at most")] = 50,
) -> Answer:
    """Rows of one source. `available` false: the source is not available; true without items: it has no
    rows."""
    return Answer(await service.rows_of(call.state, key, limit))
