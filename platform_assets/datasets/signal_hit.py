"""calc_signal_hit: the signals of a date: crossings, breaks, surges and the patterns that fired.

Crossings compare a code's newest two bars, of which the one before may not be stored (the first date of a
warehouse, a suspension): they are calculated from the window of bars. Patterns are read as stored.
"""

from collections.abc import Mapping
from math import isfinite

import numpy as np
import pandas as pd

from core.arrays import Bools, Floats, Ints
from core.declaration.columns import K32, Code, Date, F, Int, Json, Model, Px, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json, stacked
from core.declaration.interfaces import DAY, TEXT, market
from core.declaration.scope import Scope
from platform_assets.compute.date_ranges import Stretch
from platform_assets.compute.parameters.patterns import DIRECTIONS
from platform_assets.compute.signals import Pair, hits
from platform_assets.datasets._quant import BARS, WHOLE_WINDOW, rows_of, signal_values, stretches_of
from resources.upstreams.fetch_context import FetchContext

PATTERNS = "calc_pattern_daily"


class SignalHit(Model):
    """One signal of one code on the day that it came up."""

    trade_date: Date = key("trade date")
    signal_key: K32 = key("kind of signal, or direction column of the pattern that fired")
    code: Code = key("security code")
    direction: Int = col("", "1 up, -1 down, 0 neither", nullable=False, isin=[-1, 0, 1])
    price: Px = col("CNY", "closing price, unadjusted", gt=0)
    strength: F = col("", "in the measure of the signal; null for patterns", decimals=6)
    detail: Json = col(title="the figures behind it")


def signals(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    frames = []
    for stretch in stretches_of(ctx, scope):
        frames += _crossings(stretch, signal_values(ctx, scope, stretch)) + _patterns(ctx, stretch)
    return stacked(frames, SignalHit.to_schema().columns)


def _crossings(stretch: Stretch, values: Mapping[str, Pair]) -> list[pd.DataFrame]:
    now = {name: pair.now for name, pair in values.items()}
    frames = []
    for found in hits(stretch.bars, values, stretch.rows):
        at = np.flatnonzero(found.hit)
        frames.append(
            pd.DataFrame(
                {
                    "trade_date": stretch.dates[at],
                    "signal_key": found.key,
                    "code": stretch.codes[at],
                    "direction": found.direction[at],
                    "price": stretch.close[at],
                    "strength": found.strength[at].round(6),
                    "detail": _details(now, at, found.above),
                }
            )
        )
    return frames


def _details(now: Mapping[str, Floats], at: Ints, above: Bools | None) -> list[str]:
    """The figures behind each hit, as far as they are known."""
    columns = {name: values[at].tolist() for name, values in now.items()}
    sides = [{}] * len(at) if above is None else [{"above_zero": bool(one)} for one in above[at]]
    return [
        canonical_json(
            {
                **{
                    name: round(value, 4) for name, value in zip(columns, row, strict=True) if isfinite(value)
                },
                **side,
            }
        )
        for row, side in zip(zip(*columns.values(), strict=True), sides, strict=True)
    ]


def _patterns(ctx: FetchContext, stretch: Stretch) -> list[pd.DataFrame]:
    """Directions that are stored of the dates of a stretch."""
    rows = rows_of(stretch, {})
    days = sorted(set(rows["date"]))
    stored = ctx.read(
        PATTERNS, columns=("code", "date", *DIRECTIONS), since=days[0], until=days[-1], noted=days
    )
    stored = stored.merge(rows, on=["code", "date"])
    signs = np.sign(stored[list(DIRECTIONS)].fillna(0).to_numpy(dtype=np.int64)).T
    which, at = np.nonzero(signs)
    fired = {
        "trade_date": stored["date"].to_numpy(dtype=object)[at],
        "signal_key": np.array(DIRECTIONS, dtype=object)[which],
        "code": stored["code"].to_numpy(dtype=object)[at],
        "direction": signs[which, at],
        "price": stored["close"].to_numpy(dtype=np.float64)[at],
        "strength": None,
        "detail": None,
    }
    return [pd.DataFrame(fired)] if at.size else []


DATASET = Dataset(
    name="signal_hit",
    subject="signals",
    title="Signals by trade date",
    model=SignalHit,
    adjusted=True,
    calculate=signals,
    reads=(BARS, "fusion_index_daily", PATTERNS),
    needs=(WHOLE_WINDOW,),
    monitored=False,
    indexes=(("code", "trade_date"),),
    tasks=("quant_calc",),
    interfaces=(
        market("get_signal_pool", "by_date", "signals of a day", ttl=600).takes(
            trade_date=DAY, signal_key=TEXT, limit=200
        ),
    ),
)
