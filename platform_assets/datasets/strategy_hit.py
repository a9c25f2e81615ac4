"""calc_strategy_hit: which of the nine strategies bought which stock at the close of a date.

Definitions: `docs/calculations/backtests.md`. The strategies run with their default periods over the window
of bars of the date; a stock that did not trade has no hit.
"""

from typing import Any

import numpy as np
import pandas as pd

from core.declaration.columns import K32, S64, Code, Date, F, Json, Model, Px, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json, stacked
from core.declaration.scope import Scope
from platform_assets.compute.backtests.picks import confirmations, picks_of
from platform_assets.compute.backtests.strategies import STRATEGIES
from platform_assets.compute.name_spans import named
from platform_assets.datasets._quant import BARS, WHOLE_WINDOW, newest_stretches, rows_of
from resources.upstreams.fetch_context import FetchContext

NAMES = "ref_name_history"


class StrategyHit(Model):
    """One strategy that bought one stock; it would be filled at the next open."""

    trade_date: Date = key("trade date of the signal")
    strategy_key: K32 = key("strategy")
    code: Code = key("security code")
    name: S64 = col(title="name on the date")
    score: F = col(
        "", "how far price and volume of the date stand out in the market", ge=0, le=100, decimals=4
    )
    price: Px = col("CNY", "closing price, unadjusted", gt=0)
    params: Json = col(title="periods of the strategy, in bars")


def strategy_hits(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every date from its own window. Scores are ranks within the market: a run for some codes computes all
    and keeps its own."""
    frames = []
    for stretch in newest_stretches(ctx, scope.whole):
        bars, at = stretch.bars, stretch.rows
        rows = rows_of(stretch, {"score": confirmations(bars, at).round(4)})
        frames += [_hits(rows, key, places) for key, places in picks_of(bars, at).items()]
    rows = stacked(frames, StrategyHit.to_schema().columns)
    own = np.array([scope.covers(code) for code in rows["code"]], dtype=bool)
    rows = rows[own].reset_index(drop=True)
    rows["name"] = _names(ctx, rows)
    return rows


def _hits(rows: pd.DataFrame, key: str, at: Any) -> pd.DataFrame:
    strategy = STRATEGIES[key]
    hit = rows.iloc[np.asarray(at)].rename(columns={"date": "trade_date", "close": "price"})
    return hit.assign(strategy_key=key, name=None, params=canonical_json(strategy.params(strategy.chosen())))


def _names(ctx: FetchContext, rows: pd.DataFrame) -> Any:
    spans = ctx.read(NAMES, columns=("code", "valid_from", "valid_to", "name", "is_st"))
    names = named(rows.rename(columns={"trade_date": "date"}), spans).name
    return [None if pd.isna(name) else name for name in names]


DATASET = Dataset(
    name="strategy_hit",
    subject="signals",
    title="Picks of the strategies by trade date",
    model=StrategyHit,
    adjusted=True,
    calculate=strategy_hits,
    reads=(BARS, NAMES),
    needs=(WHOLE_WINDOW,),
    monitored=False,
    indexes=(("code", "trade_date"),),
    tasks=("quant_calc",),
)
