"""Converts stored bars to the answers of the strength routes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.arrays import Floats
from platform_assets.compute.parameters.volume_price import RATING_WEIGHTS
from platform_assets.compute.relative_strength import RelativeStrength, relative_strength
from platform_assets.compute.trend_strength import level_of, trend_strength
from platform_assets.compute.volume_price import Analysis, Factor, Prices, analyse
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.quant.strength import queries
from serving_api.stocks.bars import Bar, ratios

GAP_DAYS = 60
"""Additional trade dates that are read: a suspended stock has fewer bars."""
NOTE = "An observation from daily bars, with its evidence; it recommends nothing."
TOO_FEW = "Not enough bars."


def prices_of(bars: Sequence[Bar]) -> Prices:
    """Adjusted to the newest bar; bars without a price are left out."""
    kept = [bar for bar in bars if None not in (bar.high, bar.low, bar.close)]
    scale = np.array(ratios(kept, "qfq"))

    def column(name: str) -> Floats:
        return np.array([getattr(bar, name) for bar in kept], dtype=np.float64)

    return Prices(
        high=column("high") * scale,
        low=column("low") * scale,
        close=column("close") * scale,
        volume=column("volume"),
        amount=column("amount"),
    )


def analysis_answer(code: str, bars: Sequence[Bar]) -> dict[str, Any]:
    """{code, factors, health, observation, evidence, bars, note}."""
    prices = prices_of(bars)
    found: Analysis = analyse(prices)
    return {
        "code": code,
        "factors": [_factor(factor) for factor in found.factors],
        "health": _round(found.health),
        "observation": found.observation,
        "evidence": [
            {
                "factor": factor.key,
                "score": _round(factor.score),
                "values": {name: _round(value) for name, value in factor.values.items()},
                "text": factor.text,
            }
            for factor in found.factors
        ],
        "bars": len(prices),
        "note": NOTE if found.health is not None else TOO_FEW,
    }


def _factor(factor: Factor) -> dict[str, Any]:
    return {
        "key": factor.key,
        "name": factor.name,
        "score": _round(factor.score),
        "state": factor.state,
        "value": _round(factor.value),
    }


def strength_answer(code: str, bars: Sequence[Bar], days: int) -> dict[str, Any]:
    """{code, latest, series} of the newest `days` bars that have a value, oldest first."""
    kept = [bar for bar in bars if None not in (bar.high, bar.low, bar.close)]
    prices = prices_of(kept)
    found = trend_strength(prices.high, prices.low, prices.close)
    rows = [
        {"date": bar.date, "rtsi": _round(rtsi), "rtsi_ma5": _round(mean)}
        for bar, rtsi, mean in zip(kept, found.rtsi.tolist(), found.mean5.tolist(), strict=True)
        if np.isfinite(rtsi)
    ][-days:]
    latest: dict[str, Any] = {"date": None, "rtsi": None, "level": None, "label": None}
    if rows:
        level = level_of(float(found.rtsi[np.isfinite(found.rtsi)][-1]))
        label = level.replace("_", " ")
        latest = {"date": rows[-1]["date"], "rtsi": rows[-1]["rtsi"], "level": level, "label": label}
    return {"code": code, "latest": latest, "series": rows}


class Ranked:
    """Relative strength of the market on one date, with what a row shows beside it."""

    def __init__(self, figures: RelativeStrength, names: dict[str, str], industries: dict[str, str]) -> None:
        self.figures = figures
        self.names = names
        self.industries = industries

    def rows(self, window: int, industry: str | None) -> list[dict[str, Any]]:
        """Every stock with an excess over the window (of an industry), the strongest first."""
        excess = self.figures.excess_pct[window]
        order = np.argsort(-excess, kind="stable")
        codes = self.figures.codes
        held = [
            at
            for at in order.tolist()
            if np.isfinite(excess[at]) and (industry is None or self.industries.get(codes[at]) == industry)
        ]
        return [
            {
                "rank": rank,
                "code": codes[at],
                "name": self.names.get(codes[at]),
                "change_pct": _round(self.figures.change_pct[window][at]),
                "excess_pct": _round(excess[at]),
                "rating": None if np.isnan(self.figures.rating[at]) else int(self.figures.rating[at]),
                "mansfield": _round(self.figures.mansfield_pct[at]),
            }
            for rank, at in enumerate(held, 1)
        ]


async def ranked(state: State, day: str | None, benchmark: str) -> tuple[str | None, Ranked | None]:
    """(the date, its figures); cached until the tables change."""
    day = day or await read_or(None, state.reading.point(queries.newest_day))
    if day is None:
        return None, None
    # Near the beginning of the calendar there is less to read: `offset` would raise.
    dates = state.calendar.last(max(RATING_WEIGHTS) + GAP_DAYS + 1, day)
    if not dates:
        return day, None
    since = dates[0]

    async def load() -> Ranked | None:
        return await read_or(None, state.reading.scan(_read, since, day, benchmark))

    version = (await state.versions.version_of(queries.TABLES)).token
    known = await state.cache.one(
        "relative-strength", (day, benchmark), version, load, lambda made: 200 * len(made.names)
    )
    return day, known


def _read(session: Session, since: str, day: str, benchmark: str) -> Ranked:
    bars = queries.market_bars(session, since, day)
    index = queries.index_closes(session, benchmark, since, day)
    names, industries = queries.names_and_industries(session)
    return Ranked(relative_strength(bars, index, int(day.replace("-", ""))), names, industries)


def _round(value: Any) -> Any:
    """Two decimals in responses; unknown values are null."""
    if value is None or isinstance(value, bool):
        return value
    return None if np.isnan(value) else round(float(value), 2)
