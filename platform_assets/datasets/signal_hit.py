"""calc_signal_hit: the signals of a date: crossings, breaks, surges and the patterns that fired.

Crossings compare a code's newest two bars, of which the one before may not be stored (the first date of a
warehouse, a suspension): they are calculated from the window of bars. Patterns are read as stored.
"""

from typing import Any

import numpy as np
import pandas as pd

from platform_assets.compute.bars import Bars
from platform_assets.compute.parameters.patterns import DIRECTIONS
from platform_assets.compute.signals import hits
from platform_assets.datasets._quant import BARS, bars_at, joined, rows_of, signal_values
from platform_assets.declaration.columns import K32, Code, Date, F, Int, Json, Model, Px, col, key
from platform_assets.declaration.dataset import Dataset
from platform_assets.declaration.frames import canonical_json
from platform_assets.declaration.rules import Interface
from platform_assets.declaration.scope import Scope

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


def signals(desk: Any, scope: Scope) -> pd.DataFrame:
    frames = []
    for day in scope.dates:
        bars = bars_at(desk, scope, day)
        if bars.codes:
            frames += _crossings(desk, scope, bars, day) + _patterns(desk, bars, day)
    return joined(frames, list(SignalHit.to_schema().columns))


def _crossings(desk: Any, scope: Scope, bars: Bars, day: str) -> list[pd.DataFrame]:
    values = signal_values(desk, scope, bars, day)
    prices = bars.close[bars.last_rows]
    codes = np.array(bars.codes, dtype=object)
    frames = []
    for found in hits(bars, values):
        at = np.flatnonzero(found.hit)
        if not at.size:
            continue
        detail = [
            canonical_json(
                {
                    **{
                        name: round(float(pair.now[i]), 4)
                        for name, pair in values.items()
                        if np.isfinite(pair.now[i])
                    },
                    **({} if found.above is None else {"above_zero": bool(found.above[i])}),
                }
            )
            for i in at
        ]
        frames.append(
            pd.DataFrame(
                {
                    "trade_date": day,
                    "signal_key": found.key,
                    "code": codes[at],
                    "direction": found.direction[at],
                    "price": prices[at],
                    "strength": found.strength[at].round(6),
                    "detail": detail,
                }
            )
        )
    return frames


def _patterns(desk: Any, bars: Bars, day: str) -> list[pd.DataFrame]:
    stored = desk.read(PATTERNS, columns=("code", *DIRECTIONS), since=day, until=day)
    stored = stored.merge(rows_of(bars, day, {})[["code", "close"]], on="code")
    signs = np.sign(stored[list(DIRECTIONS)].fillna(0).to_numpy(dtype=np.int64)).T
    which, at = np.nonzero(signs)
    fired = {
        "trade_date": day,
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
    title="Signals by trade date",
    model=SignalHit,
    key=("trade_date", "signal_key", "code"),
    date_column="trade_date",
    calculate=signals,
    reads=(BARS, "fusion_index_daily", PATTERNS),
    monitored=False,
    indexes=(("code", "trade_date"),),
    tasks=("quant_calc",),
    interfaces=(
        Interface(
            "get_signal_pool",
            "market",
            "by_date",
            {
                "trade_date": ("date", False, None),
                "signal_key": ("string", False, None),
                "limit": ("int", False, 200),
            },
            "object[]",
            600,
            "signals of a day",
        ),
    ),
)
