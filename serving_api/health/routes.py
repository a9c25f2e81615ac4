"""/health, at the root."""

from starlette.requests import Request

from serving_api.answers import Answer
from serving_api.caching import NO_STORE
from serving_api.health.schemas import Health
from serving_api.health.service import report
from serving_api.permissions import Anyone
from serving_api.routing import area_router, serving
from serving_api.state import state_of

router = area_router("/health", "health")


@router.get("")
@serving(Health, cache=NO_STORE)
async def health(request: Request, subject: Anyone) -> Answer:
    """Always 200; `status` says whether everything works."""
    return Answer(await report(state_of(request)))
