"""calc_pattern_daily: chart patterns of a date. A code has a row where a direction fired or a structure is
there.

Definitions: `docs/calculations/patterns.md`. A direction fires on the first breakout day only; the metric
columns filter, they are no signals.
"""

from typing import Any

import pandas as pd

from core.declaration.columns import S16, Code, Date, Int, Model, Pct, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, INT, TEXT, history, market
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.compute.parameters.patterns import KIND_NAMES
from platform_assets.compute.patterns import has_row, kind_names, pattern_columns
from platform_assets.datasets._quant import BARS, WHOLE_WINDOW, rows_of, stretches_of
from resources.upstreams.fetch_context import FetchContext


def _direction(title: str) -> Any:
    return col("", f"{title}: 100 up, -100 down, 0 none", nullable=False, isin=[-100, 0, 100])


class PatternDaily(Model):
    """Directions (100 up, -100 down, 0 none) and metrics of one code at the close."""

    code: Code = key("security code")
    date: Date = key("trade date")
    duck_buy: Int = _direction("duck head: break above the head top")
    duck_sell: Int = _direction("duck head: fall below ma60")
    arc_bottom: Int = _direction("arc bottom")
    arc_top: Int = _direction("arc top")
    cup_handle: Int = _direction("cup with handle")
    double_top: Int = _direction("double top")
    double_bottom: Int = _direction("double bottom")
    triple_top: Int = _direction("triple top")
    triple_bottom: Int = _direction("triple bottom")
    head_shoulders_top: Int = _direction("head and shoulders top")
    head_shoulders_bottom: Int = _direction("head and shoulders bottom")
    rectangle: Int = _direction("rectangle")
    triangle: Int = _direction("triangle")
    wedge: Int = _direction("wedge")
    flag: Int = _direction("flag or pennant")
    island: Int = _direction("island reversal")
    duck_stage: Int = col("", "0 none, 1 neck, 2 head, 3 beak", nullable=False, ge=0, le=3)
    duck_neck_days: Int = col("", "bars since the neck began", ge=0)
    duck_pullback_pct: Pct = col("pct", "low below the head top")
    duck_vol_shrink_pct: Pct = col("pct", "mean volume of the pullback below that of the neck")
    duck_breakout_pct: Pct = col("pct", "close above the head top on the day of the break")
    rectangle_height_pct: Pct = col("pct", "mean high above mean low")
    triangle_kind: S16 = col(title="ascending, descending or symmetric")
    wedge_kind: S16 = col(title="rising or falling")
    flag_kind: S16 = col(title="bull_flag, bull_pennant, bear_flag or bear_pennant")


def patterns(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every date from its own window; codes without direction and structure have no row."""
    frames = []
    for stretch in stretches_of(ctx, scope):
        values: dict[str, Any] = stretch.of(pattern_columns(stretch.bars, newest=stretch.newest))
        held = has_row(values)
        for name in KIND_NAMES:
            values[name] = kind_names(name, values[name])
        frames.append(rows_of(stretch, values)[held].drop(columns="close"))
    return stacked(frames, PatternDaily.to_schema().columns)


DATASET = Dataset(
    name="pattern_daily",
    subject="signals",
    title="Chart patterns by trade date",
    model=PatternDaily,
    adjusted=True,
    calculate=patterns,
    reads=(BARS,),
    needs=(WHOLE_WINDOW,),
    freshness=trading(1),
    tasks=("quant_calc",),
    interfaces=(
        history("get_pattern_history", "pattern rows of a code by date, oldest first", 600, limit=60),
        market(
            "get_pattern_by_date", "patterns_by_date", "pattern rows of the market on one date", ttl=600
        ).takes(trade_date=DAY, sort=TEXT, limit=200, offset=0, pattern=TEXT, direction=INT),
    ),
)
