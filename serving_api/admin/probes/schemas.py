"""The shape of a round of probes."""

from typing import Literal

from pydantic import BaseModel, Field


class Probed(BaseModel):
    """One probe: `sample_count` where it is ok, else `error`."""

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
    cooldown: bool = Field(description="one of its hosts is left alone at the moment")


class Breaker(BaseModel):
    state: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    failure_count: int
    opened_at: str | None


class Breakers(BaseModel):
    em_breaker: Breaker
    push2ex_breaker: Breaker


class Probes(BaseModel):
    """Of the machine since its transport state exists: counters by upstream, breakers by name."""

    code: str = Field(description="the stock that was asked about")
    sources: list[Probed]
    summary: Summary
    counters: dict[str, Counter]
    breakers: Breakers
