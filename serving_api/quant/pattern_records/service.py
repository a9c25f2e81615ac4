"""The record of a pattern, and the catalog of all patterns."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.errors import InputError
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE, METRIC_CATALOGUE
from platform_assets.compute.parameters.patterns import DIRECTIONS, METRICS
from platform_assets.compute.parameters.scorecards import WAIT_DAYS
from platform_assets.compute.pattern_performance import Followed, Outcome, followed, outcomes, summary
from serving_api.db.sessions import Session
from serving_api.framework.state import State
from serving_api.quant.pattern_records import queries

_PART = 250
"""Dates whose bars are in memory at one time."""
_PRICES = (queries.BARS, queries.INDICES)
_Key = tuple[str, int, int, int]
"""Pattern, direction, market dates held, newest trade dates"""


def direction_column(name: str) -> str:
    """`name` if it is one of the 16 directions. Raises InputError for anything else."""
    if name in DIRECTIONS:
        return name
    why = "is a metric, which is a filter and no signal" if name in METRICS else "is no pattern"
    raise InputError("pattern", f"{name[:40]!r} {why}; one of {', '.join(DIRECTIONS)}")


def default_direction(pattern: str) -> int:
    """100, or -100 for a pattern that only points down."""
    return max(next(one for one in DIRECTION_CATALOGUE if one.key == pattern).signs)


async def performance(state: State, pattern: str, direction: int, forward: int, days: int) -> dict[str, Any]:
    """Figures of the signals of the newest `days` trade dates."""
    key = (pattern, direction, forward, days)
    stand = await state.versions.version_of((queries.PATTERNS, *_PRICES))

    async def load(_missing: Sequence[_Key]) -> dict[_Key, dict[str, Any]]:
        prices = await state.versions.version_of(_PRICES)
        found = await state.reading.scan(_outcomes, state, prices.token, pattern, direction, forward, days)
        return {key: summary(found, direction)}

    # One request at a time: ten years are read batch by batch, on one thread.
    held = await state.cache.some("pattern-performance", (key,), stand.token, load, lambda _: 4096)
    return held[key]


def _outcomes(
    session: Session, state: State, token: str | None, pattern: str, direction: int, forward: int, days: int
) -> list[Outcome]:
    """Reads the dates batch by batch, so that ten years of a market need no more memory than one."""
    newest = queries.newest_bar(session)
    if newest is None:
        return []
    requested = state.calendar.last(days, newest)[0]
    dates = state.calendar.last(-(-days // _PART) * _PART, newest)
    found: list[Outcome] = []
    for start in range(0, len(dates), _PART):
        part = dates[start : start + _PART]
        hits = queries.hits(session, pattern, direction, max(part[0], requested), part[-1])
        if not hits:
            continue
        is_newest = start + _PART >= len(dates)
        # Signals that never traded, or have no index, are settled when the holding time is over.
        coming = dates[start + _PART : start + _PART + WAIT_DAYS]
        window = _window(session, state, part, coming, forward, token if is_newest else None)
        found += outcomes(window, hits, direction=direction)
    return found


def _window(
    session: Session, state: State, part: list[str], coming: list[str], forward: int, token: str | None
) -> Followed:
    """Outcomes of all codes, cached per version: a client that asks for one pattern asks for the next one."""
    key = (part[0], part[-1], forward)
    known = state.cache.get("pattern-window", key, token)
    if known is None:
        prices, benchmark = queries.prices(session, [*part, *coming])
        known = followed(prices, benchmark, len(part), hold=forward)
        state.cache.put("pattern-window", key, token, known, known.nbytes)
    window: Followed = known
    return window


def catalogue() -> dict[str, Any]:
    """The description of every column."""
    directions = [
        {**asdict(one), "kind": "direction", "signs": list(one.signs)} for one in DIRECTION_CATALOGUE
    ]
    return {
        "directions": directions,
        "metrics": [{**asdict(one), "kind": "metric"} for one in METRIC_CATALOGUE],
    }
