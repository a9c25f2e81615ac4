"""/market/limit-count-history, emotion-cycle, regime, phase-history: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request

from platform_assets.compute.market_phase import segments, transition_counts, transitions
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.interfaces.queries import Row
from serving_api.market.phase import queries, schemas

router = area_router(f"{PREFIX}/market", "market: phase")

_PHASE = ("trade_date", "phase", "phase_label", "score")
_REGIME = (*_PHASE, "confidence", "duration_days")


async def _window(request: Request, table: str, days: int) -> list[Row]:
    """Rows of the newest trade dates, oldest first."""
    state = state_of(request)
    dates = state.calendar.last(days, state.clock.now().date().isoformat())
    rows = await read_or([], state.reading.point(queries.since, table, dates[0]))
    return [_shown(row) for row in rows]


def _shown(row: Row) -> Row:
    """The row with its score to two decimals."""
    return {**row, "score": round(row["score"], 2)} if "score" in row else row


@router.get("/limit-count-history")
@serving(schemas.LimitCounts, tables=(queries.LIMITS,))
async def limit_count_history(
    request: Request,
    subject: Anyone,
    days: Annotated[int, Query(ge=1, le=250, description="newest trade dates")] = 60,
) -> Answer:
    """Limit-ups and limit-downs of each date: counted from bars, next to those of the portal's pools."""
    items = [_counts(row) for row in await _window(request, queries.LIMITS, days)]
    history = await reach(state_of(request), queries.LIMITS, len(items), asked=days)
    return Answer({"items": items, "total": len(items), **history})


def _counts(row: Row) -> dict[str, Any]:
    pairs = [(row[f"{side}_recomputed"], row[f"{side}_official"]) for side in ("up", "down")]
    known = all(one is not None for pair in pairs for one in pair)
    official = row["broken_official"]
    return {
        "date": row["trade_date"],
        "limit_up_recomputed": row["up_recomputed"],
        "limit_down_recomputed": row["down_recomputed"],
        "limit_up_official": row["up_official"],
        "limit_down_official": row["down_official"],
        "broken": row["broken_recomputed"] if official is None else official,
        "seal_rate": row["seal_rate_pct"],
        "max_limit_days": row["max_limit_days"],
        "match": all(ours == theirs for ours, theirs in pairs) if known else None,
        "diff_note": row["diff_note"],
    }


@router.get("/emotion-cycle")
@serving(schemas.EmotionCycle, tables=(queries.PHASES,))
async def emotion_cycle(
    request: Request,
    subject: Anyone,
    days: Annotated[int, Query(ge=1, le=250, description="newest trade dates")] = 60,
) -> Answer:
    """The emotion score of each date with its stage and its inputs."""
    rows = await _window(request, queries.PHASES, days)
    items = [
        {
            "date": row["trade_date"],
            "score": row["score"],
            "stage": row["phase"],
            "stage_label": row["phase_label"],
            "limit_up": row["limit_up_count"],
            "limit_down": row["limit_down_count"],
            "max_limit_days": row["max_limit_days"],
            "seal_rate": row["seal_rate_pct"],
            "prev_limit_up_avg_pct": row["prev_limit_up_avg_pct"],
        }
        for row in rows
    ]
    current = {"stage": rows[-1]["phase"], "days": rows[-1]["duration_days"]} if rows else _NO_STAGE
    history = await reach(state_of(request), queries.PHASES, len(items), asked=days)
    return Answer({"items": items, "current": current, "total": len(items), **history})


_NO_STAGE = {"stage": None, "days": 0}


@router.get("/regime")
@serving(schemas.Regime, tables=(queries.PHASES,))
async def regime(request: Request, subject: Anyone) -> Answer:
    """The phase of the market as it was stored after the newest close."""
    found = await read_or(None, state_of(request).reading.point(queries.newest))
    row = _shown(found or {})
    reported = {name: row.get(name) for name in _REGIME}
    return Answer({**reported, "evidence": row.get("evidence") or [], "source": "snapshot"})


@router.get("/phase-history")
@serving(schemas.PhaseHistory, tables=(queries.PHASES,))
async def phase_history(
    request: Request,
    subject: Anyone,
    days: Annotated[int, Query(ge=5, le=750, description="newest trade dates")] = 90,
) -> Answer:
    """Phases by date, their runs, and the frequencies of transitions."""
    rows = await _window(request, queries.PHASES, days)
    current = {"phase": None, "duration_days": 0}
    if rows:
        current = {"phase": rows[-1]["phase"], "duration_days": rows[-1]["duration_days"]}
    runs = segments([(row["trade_date"], row["phase"]) for row in rows])
    return Answer(
        {
            "rows": [{name: row[name] for name in _PHASE} for row in rows],
            "segments": [
                {"phase": run.phase, "from": run.since, "to": run.until, "days": run.days} for run in runs
            ],
            "current": current,
            "transitions": transitions([row["phase"] for row in rows]),
            "transition_counts": transition_counts([row["phase"] for row in rows]),
            "total": len(rows),
            **await reach(state_of(request), queries.PHASES, len(rows), asked=days),
        }
    )
