"""Response models of a round of probes."""

from typing import Literal

from pydantic import BaseModel, Field


class Probed(BaseModel):
    """One probe: `sample_count` when it succeeded, else `error`."""

    name: str
    ok: bool
    latency_ms: int
    sample_count: int | None = Field(default=None, description="rows of the answer")
    error: str | None = Field(default=None, max_length=200)


class Summary(BaseModel):
    ok: int
    fail: int


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


class Probes(BaseModel):
    """Counters by upstream and breakers by name, of this machine since its transport state exists."""

    code: str = Field(description="the stock that was asked for")
    sources: list[Probed]
    summary: Summary
    counters: dict[str, Counter]
    breakers: Breakers
