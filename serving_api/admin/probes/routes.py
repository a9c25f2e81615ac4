"""/datamgr/probe-all: admin, enveloped."""

from typing import Annotated

from fastapi import Query

from serving_api.admin.probes import schemas, service
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/probe-all", "datamgr: probes")


@router.get("", schemas.Probes, cache=NO_STORE)
async def probe_all(
    call: Admin,
    code: Annotated[
        str | None,
        Query(
            pattern=r"^[0-9]{6}$",
            description="6-digit code asked about; 600519 or, where that is not "
            "listed, another stock of the list",
        ),
    ] = None,
) -> Answer:
    """Send every upstream one small request: which ones answer, how fast, and the state of breakers and
    pacing."""
    return Answer(await service.probe_all(call.state, code))
