"""/health, at the root."""

from starlette.requests import Request

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.health.schemas import Health
from serving_api.health.service import report

router = area_router("/health", "health")


@router.get("")
@serving(Health, cache=NO_STORE)
async def health(request: Request, subject: Anyone) -> Answer:
    """Always 200; `status` says whether everything works."""
    return Answer(await report(state_of(request)))
