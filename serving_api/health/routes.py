"""/health, at the root."""

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.health.schemas import Health
from serving_api.health.service import report

router = area_router("/health", "health")


@router.get("", Health, cache=NO_STORE)
async def health(call: Anyone) -> Answer:
    """Always 200; `status` says whether everything works."""
    return Answer(await report(call.state))
