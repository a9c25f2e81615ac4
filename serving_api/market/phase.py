"""/market/limit-count-history, emotion-cycle, regime, phase-history: open to anyone, plain."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.compute.market_phase import segments, transition_counts, transitions
from platform_assets.datasets.limit_count import LimitCount as StoredLimitCount
from platform_assets.datasets.market_phase import MarketPhase
from resources.warehouse.stored import ANY, stored
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, with_columns
from serving_api.framework.state import State

Phase = Literal["ice", "repair", "rise", "climax", "diverge", "ebb"]


router = area_router(f"{PREFIX}/market", "market: phase")

LIMITS = stored("calc_limit_count")
PHASES = stored("calc_market_phase", MarketPhase)

_NONE: Row = {"phase": None, "duration_days": 0}
WindowDays = Annotated[int, Query(ge=1, le=250, description="newest trade dates")]


@with_columns(
    StoredLimitCount.trade_date.label("date"), StoredLimitCount.up_recomputed.label("limit_up_recomputed"),
    StoredLimitCount.down_recomputed.label("limit_down_recomputed"),
    StoredLimitCount.up_official.label("limit_up_official"),
    StoredLimitCount.down_official.label("limit_down_official"),
    StoredLimitCount.seal_rate_pct.label("seal_rate"), StoredLimitCount.max_limit_days,
    StoredLimitCount.diff_note,
)  # fmt: skip
class LimitCount(BaseModel):
    """Counts from our bars next to those of the portal's pools; null when one of the two is not stored."""

    broken: int | None = Field(description="limit-ups that did not hold; from the pools, else from bars")
    match: bool | None = Field(description="both counts are equal; null without one of them")


class LimitCounts(Reach, Rows[LimitCount]):
    """Oldest first."""


@with_columns(
    MarketPhase.trade_date.label("date"), MarketPhase.score, MarketPhase.phase_label.label("stage_label"),
    MarketPhase.limit_up_count.label("limit_up"), MarketPhase.limit_down_count.label("limit_down"),
    MarketPhase.max_limit_days, MarketPhase.seal_rate_pct.label("seal_rate"),
    MarketPhase.prev_limit_up_avg_pct,
)  # fmt: skip
class CycleDay(BaseModel):
    """One trade date; `score` 0..100."""

    stage: Phase


class CurrentStage(BaseModel):
    stage: Phase | None
    days: int = Field(description="trade dates in this stage so far")


class EmotionCycle(Reach, Rows[CycleDay]):
    """Oldest first."""

    current: CurrentStage


class Evidence(BaseModel):
    """One input of the score."""

    key: str
    value: float = Field(description="counts, shares of 1, or percent, by its key")
    score: float = Field(description="0..100, high is good")
    weight: float


@with_columns(
    MarketPhase.trade_date.or_null(), MarketPhase.phase, MarketPhase.phase_label.or_null(),
    MarketPhase.score.or_null(), MarketPhase.confidence.or_null(), MarketPhase.duration_days.or_null(),
)  # fmt: skip
class Regime(BaseModel):
    """The newest stored phase; nulls while none is stored."""

    phase: Phase | None
    evidence: list[Evidence]
    source: Literal["snapshot", "live"] = Field(description="snapshot: as it was stored after the close")


@with_columns(MarketPhase.trade_date, MarketPhase.phase, MarketPhase.phase_label, MarketPhase.score)
class PhaseDay(BaseModel):
    """One trade date."""

    phase: Phase


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


def since(session: Session, table: str, day: str) -> list[Row]:
    """Rows of a whole-market table from a date on, oldest first."""
    return public_rows(session, table, ANY.trade_date >= day, order=["trade_date"])


def newest(session: Session) -> Row | None:
    """The newest phase."""
    rows = public_rows(session, PHASES, order=[PHASES.c.trade_date.desc()], limit=1)
    return rows[0] if rows else None


async def _window(state: State, table: str, days: int) -> list[Row]:
    """Rows of the newest trade dates, oldest first."""
    rows = await read_or([], state.reading.point(since, table, state.since(days)))
    return [_shown(row) for row in rows]


def _shown(row: Row) -> Row:
    """The row with its score to two decimals."""
    return {**row, "score": round(row["score"], 2)} if "score" in row else row


@router.get("/limit-count-history", response_model=LimitCounts)
@serves(tables=(LIMITS,))
async def limit_count_history(call: Anyone, days: WindowDays = 60) -> Answer:
    """Limit-ups and limit-downs of each date: counted from bars, next to those of the portal's pools."""
    items = [_counts(row) for row in await _window(call.state, LIMITS, days)]
    history = await reach(call.state, LIMITS, len(items), asked=days)
    return Answer({"items": items, "total": len(items), **history})


def _counts(row: Row) -> LimitCount:
    pairs = [(row[f"{side}_recomputed"], row[f"{side}_official"]) for side in ("up", "down")]
    known = all(one is not None for pair in pairs for one in pair)
    official = row["broken_official"]
    broken = row["broken_recomputed"] if official is None else official
    match = all(ours == theirs for ours, theirs in pairs) if known else None
    return LimitCount.model_validate({**row, "broken": broken, "match": match})


@router.get("/emotion-cycle", response_model=EmotionCycle)
@serves(tables=(PHASES,))
async def emotion_cycle(call: Anyone, days: WindowDays = 60) -> Answer:
    """The emotion score of each date with its stage and its inputs."""
    rows = await _window(call.state, PHASES, days)
    items = [CycleDay.model_validate({**row, "stage": row["phase"]}) for row in rows]
    last = rows[-1] if rows else _NONE
    current = CurrentStage(stage=last["phase"], days=last["duration_days"])
    history = await reach(call.state, PHASES, len(items), asked=days)
    return Answer({"items": items, "current": current, "total": len(items), **history})


@router.get("/regime", response_model=Regime)
@serves(tables=(PHASES,))
async def regime(call: Anyone) -> Answer:
    """The phase of the market as it was stored after the newest close."""
    found = await read_or(None, call.state.reading.point(newest))
    row = dict.fromkeys(Regime.model_fields) if found is None else _shown(found)
    return Answer(Regime.model_validate({**row, "evidence": row.get("evidence") or [], "source": "snapshot"}))


@router.get("/phase-history", response_model=PhaseHistory)
@serves(tables=(PHASES,))
async def phase_history(
    call: Anyone, days: Annotated[int, Query(ge=5, le=750, description="newest trade dates")] = 90
) -> Answer:
    """Phases by date, their runs, and the frequencies of transitions."""
    rows = await _window(call.state, PHASES, days)
    phases = [row["phase"] for row in rows]
    runs = segments([(row["trade_date"], row["phase"]) for row in rows])
    answer = {
        "rows": [PhaseDay.model_validate(row) for row in rows],
        "segments": [
            {"phase": run.phase, "from": run.since, "to": run.until, "days": run.days} for run in runs
        ],
        "current": CurrentPhase.model_validate(rows[-1] if rows else _NONE),
        "transitions": transitions(phases),
        "transition_counts": transition_counts(phases),
        "total": len(rows),
    }
    return Answer({**answer, **await reach(call.state, PHASES, len(rows), asked=days)})
