"""Response models of the market's phase, for the document."""

from typing import Literal

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach

Phase = Literal["ice", "repair", "rise", "climax", "diverge", "ebb"]


class LimitCount(BaseModel):
    """Counts from our bars next to those of the portal's pools; null when one of the two is not stored."""

    date: str
    limit_up_recomputed: int | None
    limit_down_recomputed: int | None
    limit_up_official: int | None
    limit_down_official: int | None
    broken: int | None = Field(description="limit-ups that did not hold; from the pools, else from bars")
    seal_rate: float | None = Field(description="held / touched, percent")
    max_limit_days: int | None = Field(description="longest streak")
    match: bool | None = Field(description="both counts are equal; null without one of them")
    diff_note: str | None = Field(description="codes that only one of the two has")


class LimitCounts(Reach):
    """Oldest first."""

    items: list[LimitCount]
    total: int


class CycleDay(BaseModel):
    date: str
    score: float = Field(description="0..100")
    stage: Phase
    stage_label: str
    limit_up: int | None
    limit_down: int | None
    max_limit_days: int | None
    seal_rate: float | None = Field(description="percent")
    prev_limit_up_avg_pct: float | None = Field(description="mean change of yesterday's limit-ups, percent")


class CurrentStage(BaseModel):
    stage: Phase | None
    days: int = Field(description="trade dates in this stage so far")


class EmotionCycle(Reach):
    """Oldest first."""

    items: list[CycleDay]
    current: CurrentStage
    total: int


class Evidence(BaseModel):
    """One input of the score."""

    key: str
    value: float = Field(description="counts, shares of 1, or percent, by its key")
    score: float = Field(description="0..100, high is good")
    weight: float


class Regime(BaseModel):
    """The newest stored phase; nulls while none is stored."""

    trade_date: str | None
    phase: Phase | None
    phase_label: str | None
    score: float | None
    confidence: float | None = Field(description="weight of the inputs that are known, 0..1")
    duration_days: int | None
    evidence: list[Evidence]
    source: Literal["snapshot", "live"] = Field(description="snapshot: as it was stored after the close")


class PhaseDay(BaseModel):
    trade_date: str
    phase: Phase
    phase_label: str
    score: float


class Run(BaseModel):
    """A run of dates in one phase."""

    phase: Phase
    from_: str = Field(alias="from")
    to: str
    days: int


class CurrentPhase(BaseModel):
    phase: Phase | None
    duration_days: int


class PhaseHistory(Reach):
    """Oldest first; the first segment begins with the window."""

    rows: list[PhaseDay]
    segments: list[Run]
    current: CurrentPhase
    transitions: dict[str, dict[str, float]] = Field(
        description="phase -> phase of the next date -> share of the dates that it followed"
    )
    transition_counts: dict[str, dict[str, int]] = Field(
        description="the same -> number of dates behind each share"
    )
    total: int
