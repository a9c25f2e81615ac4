"""Screening: which stocks of a market a screen selects, in what order, and one page of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.compute.factors.breakdown import breakdown, number
from platform_assets.compute.factors.definitions import FACTORS, KEYS
from platform_assets.compute.factors.presets import (
    BY_KEY,
    COMPOSITE,
    PRESETS,
    Batch,
    Filter,
    Preset,
    merged,
    passing,
    picks,
)
from platform_assets.compute.factors.scores import Scores, score, weighted
from platform_assets.compute.parameters.factors import WEIGHTS
from serving_api.framework.display_fields import NUMBERS
from serving_api.quant.factors import queries, schemas
from serving_api.quant.factors.market import Market

Ints = npt.NDArray[np.intp]
_DECIMALS = 4


@dataclass(frozen=True)
class ScreenRequest:
    """The parameters of a screen, checked."""

    preset: Preset | None
    filters: Sequence[Filter]
    min_composite: float | None
    weights: Mapping[str, float]
    codes: Sequence[str] | None
    industries: Sequence[str]
    markets: Sequence[str]
    hint: Sequence[str]
    """Industries of the preset, when the screen has no universe of its own."""
    exclude_st: bool
    gated: bool
    sort: str
    ascending: bool
    limit: int | None
    page: int
    page_size: int

    @property
    def narrows(self) -> bool:
        """Whether its universe is smaller than the whole market."""
        return self.codes is not None or bool(self.industries) or bool(self.markets)


def screen_request(body: schemas.ScreenBody) -> ScreenRequest:
    """The checked parameters. Raises InputError that names the parameter."""
    preset = _preset(body.preset)
    own = [_filter(at, one) for at, one in enumerate(body.filters)]
    universe = body.universe
    has_own = universe.codes is not None or bool(universe.industries) or bool(universe.market)
    least = body.minComposite
    return ScreenRequest(
        preset=preset,
        filters=merged(preset.filters if preset else (), own),
        min_composite=preset.min_composite if preset and least is None else least,
        weights=_weights(body.weights),
        codes=universe.codes,
        industries=universe.industries or (),
        markets=universe.market or (),
        hint=preset.industries if preset and not has_own else (),
        exclude_st=universe.exclude_st,
        gated=body.gate,
        sort=_sort(body.sort, preset),
        ascending=body.order == "asc",
        limit=preset.limit if preset and body.limit is None else body.limit,
        page=body.page,
        page_size=body.pageSize,
    )


def _preset(key: str | None) -> Preset | None:
    if key is None:
        return None
    if key not in BY_KEY:
        raise InputError("preset", f"{key[:40]!r} is no preset; one of {', '.join(BY_KEY)}")
    return BY_KEY[key]


def _filter(place: int, given: schemas.Filter) -> Filter:
    if given.factor not in KEYS:
        raise InputError(
            f"filters.{place}.factor", f"{given.factor[:40]!r} is no factor; one of {', '.join(KEYS)}"
        )
    if given.min is None and given.max is None:
        raise InputError(f"filters.{place}", "give min, max or both, 0..100")
    if given.min is not None and given.max is not None and given.min > given.max:
        raise InputError(f"filters.{place}.min", f"{given.min:g} is above max {given.max:g}")
    return Filter(given.factor, given.min, given.max)


def _weights(given: Mapping[str, float]) -> Mapping[str, float]:
    if not given:
        return WEIGHTS
    wrong = next((key for key in given if key not in KEYS), None)
    if wrong is not None:
        raise InputError("weights", f"{wrong[:40]!r} is no factor; one of {', '.join(KEYS)}")
    if not any(given.values()):
        raise InputError("weights", "all are 0; give one above 0 at least")
    return given


def _sort(given: str | None, preset: Preset | None) -> str:
    if given is None:
        return preset.sort if preset else COMPOSITE
    allowed = (COMPOSITE, *KEYS, *NUMBERS)
    if given not in allowed:
        raise InputError("sort", f"{given[:40]!r} cannot be sorted by; one of {', '.join(allowed)}")
    return given


# -- the answer -------------------------------------------------------------------------------------


def screened(market: Market, asked: ScreenRequest) -> dict[str, Any]:
    """items of the page, total of all pages, and how many stocks were ranked. Pure."""
    places, scores = _batch(market, asked)
    among = np.ones(len(places), dtype=bool)
    if asked.gated:
        among &= ~market.blocked[places]
    if asked.exclude_st:
        among &= ~market.special[places]
    if asked.hint:
        among &= market.of_industries(asked.hint)[places]
    codes = market.codes if len(places) == market.size else [market.codes[at] for at in places.tolist()]
    hits = picks(
        Batch(scores.factors, scores.composite, market.amount[places], codes),
        asked.filters,
        asked.min_composite,
        among=among,
        key=_key(market, scores, places, asked.sort),
        ascending=asked.ascending,
    )[: asked.limit]
    start = (asked.page - 1) * asked.page_size
    return {
        **nothing(asked, market.date),
        "items": [
            {**market.shown(int(places[at])), **_scored(scores, at), "gate": market.gates[places[at]].plain()}
            for at in hits[start : start + asked.page_size].tolist()
        ],
        "total": len(hits),
        "universe_size": len(places),
    }


def nothing(asked: ScreenRequest, day: str | None) -> dict[str, Any]:
    """The answer where nothing is stored."""
    return {
        "items": [],
        "total": 0,
        "page": asked.page,
        "pageSize": asked.page_size,
        "date": day,
        "universe_size": 0,
        "marks": schemas.MARKS,
    }


def _batch(market: Market, asked: ScreenRequest) -> tuple[Ints, Scores]:
    """(rows that are ranked, their scores)."""
    if not asked.narrows:
        everyone = np.arange(market.size)
        if asked.weights is WEIGHTS:
            return everyone, market.scores
        composite, covered = weighted(market.scores.factors, asked.weights)
        return everyone, replace(market.scores, composite=composite, covered=covered, weights=asked.weights)
    keep = np.ones(market.size, dtype=bool)
    if asked.codes is not None:
        requested = set(asked.codes)
        keep &= np.array([code in requested for code in market.codes], dtype=bool)
    if asked.industries:
        keep &= market.of_industries(asked.industries)
    if asked.markets:
        keep &= market.of_markets(asked.markets)
    places = np.flatnonzero(keep)
    values = {field: found[places] for field, found in market.scores.values.items()}
    return places, score(values, asked.weights)


def _key(market: Market, scores: Scores, places: Ints, sort: str) -> Floats:
    if sort == COMPOSITE:
        return scores.composite
    if sort in scores.factors:
        return scores.factors[sort]
    found = market.numbers.get(sort)
    return np.full(len(places), np.nan) if found is None else found[places]


def _scored(scores: Scores, place: int) -> dict[str, Any]:
    return {
        "composite": rounded(scores.composite[place]),
        "scores": {key: rounded(found[place]) for key, found in scores.factors.items()},
        "coverage": rounded(scores.covered[place]),
    }


def rounded(value: float) -> float | None:
    return round(float(value), _DECIMALS) if math.isfinite(value) else None


# -- one stock --------------------------------------------------------------------------------------


def preset_hits(market: Market, code: str) -> dict[str, Any]:
    """Which presets select a stock in the whole market, and why the others do not."""
    place, empty = market.place.get(code), no_hits(code, market.date)
    if place is None:
        return empty
    scored = {
        "composite": _scored(market.scores, place)["composite"],
        "scores": _scored(market.scores, place)["scores"],
    }
    return {**empty, "hits": [_hit(market, preset, place) for preset in PRESETS], **scored}


def no_hits(code: str, day: str | None) -> dict[str, Any]:
    """The hits of a stock without scores."""
    return {"code": code, "date": day, "hits": [], "composite": None, "scores": {}}


def _hit(market: Market, preset: Preset, place: int) -> dict[str, Any]:
    found = np.flatnonzero(market.picks[preset.key] == place)
    return {
        "preset_key": preset.key,
        "label": preset.label,
        "rank": int(found[0]) + 1 if found.size else None,
        "passed": bool(found.size),
        "failed_filters": [] if found.size else _failed(market, preset, place),
    }


def _failed(market: Market, preset: Preset, place: int) -> list[dict[str, Any]]:
    """Scores are not rounded: a rounded one may be on the other side of its bound."""
    scores = market.scores
    failed: list[dict[str, Any]] = [
        {**one.plain(), "score": number(scores.factors[one.factor][place])}
        for one in preset.filters
        if not passing(scores.factors, one)[place]
    ]
    composite = number(scores.composite[place])
    if composite is None or (preset.min_composite is not None and composite < preset.min_composite):
        least = {} if preset.min_composite is None else {"min": preset.min_composite}
        failed.append({"factor": COMPOSITE, **least, "score": composite})
    if preset.industries and not market.of_industries(preset.industries)[place]:
        failed.append({"factor": "industry", "score": None, "allowed": list(preset.industries)})
    gate = market.gates[place]
    if gate.blocked:
        failed.append({"factor": "gate", "score": None, "reason": gate.reason})
    return failed


_REPORTED = frozenset(
    one.field for factor in FACTORS if factor.key in {"quality", "growth"} for one in factor.inputs
)


def broken_down(market: Market, code: str) -> dict[str, Any]:
    """A stock's scores in the whole market, with the cells behind them."""
    place = market.place.get(code)
    if place is None:
        return {**unscored(code, market.date), "universe_size": market.size}
    row = market.row(place)
    owners = builtin_registry().dataset("stock_wide").owners
    reported = breakdown(market.scores, place)
    for factor in reported["factors"]:
        for cell in factor["inputs"]:
            owner = owners.get(cell["field"])
            cell["table"] = queries.WIDE
            cell["date"] = row.get("report_period") if cell["field"] in _REPORTED else market.date
            cell["owner"] = None if owner is None else {"table": owner[0], "column": owner[1]}
    shown = {"name": row.get("name"), "report_period": row.get("report_period")}
    return {**unscored(code, market.date), **shown, **reported, "gate": market.gates[place].plain()}


def unscored(code: str, day: str | None) -> dict[str, Any]:
    """The breakdown of a stock without scores."""
    return {
        "code": code,
        "name": None,
        "date": day,
        "report_period": None,
        "universe_size": 0,
        "composite": None,
        "covered_weight": None,
        "factors": [],
        "gate": None,
    }
