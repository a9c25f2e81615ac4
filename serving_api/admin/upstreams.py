"""/datamgr/upstreams: admin, enveloped."""

from typing import Literal

from pydantic import BaseModel, Field

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.threads import off_loop
from serving_api.live.clients import transport_state


class Counter(BaseModel):
    requests: int
    failures: int
    retries: int
    cooldown: bool = Field(description="calls to one of its hosts are suspended at the moment")


class Breaker(BaseModel):
    state: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    failure_count: int
    opened_at: str | None


class Breakers(BaseModel):
    em_breaker: Breaker
    push2ex_breaker: Breaker


class Upstreams(BaseModel):
    """Counters by upstream and breakers by name, of this machine since its transport state exists."""

    counters: dict[str, Counter]
    breakers: Breakers


router = area_router(f"{PREFIX}/datamgr/upstreams", "datamgr: state of the upstreams")


@router.get("", response_model=Upstreams)
@serves(cache=NO_STORE)
async def upstreams(call: Admin) -> Answer:
    """Calls, failures and breakers of the upstreams; none of them is asked (`probe-all` asks them)."""
    found = await off_loop(transport_state, call.state.settings)
    return Answer({name: found[name] for name in Upstreams.model_fields})
