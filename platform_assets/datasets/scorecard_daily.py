"""scorecard_daily: how the picks of each trade date fared, by source and group.

Definitions: `docs/calculations/scorecards.md`. A row changes until the last pick of its date is settled.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from core.declaration.columns import EVENING, S16, S32, Date, F, Int, Model, Pct, col, key
from core.declaration.dataset import Dataset
from core.declaration.interfaces import TEXT, market
from core.declaration.scope import Scope
from platform_assets.compute.parameters.scorecards import REVISITED_DAYS
from platform_assets.compute.scorecards.forward import outcomes_of
from platform_assets.compute.scorecards.statistics import Picks, Sums, fillable, group_stats, grouped
from platform_assets.datasets._picks import BARS, INDEX, hits_of, prices_of
from resources.upstreams.fetch_context import FetchContext

STORED = {"builtin": ("track_builtin", "board_key"), "preset": ("track_preset", "preset_key")}
"""Source -> (table of its picks, column of their group), of picks that are stored with their outcome."""
STRATEGY = "strategy"
HITS = "calc_strategy_hit"
"""Hits of strategies keep no outcome: they are reviewed whenever their date is looked at."""
TABLE = "scorecard_daily"
_FIGURES = ("trade_date", "status", "profit_pct", "excess_pct", "hold_days", "unfillable")
_COUNTS = ["stat_date", "source", "group_key", "picks", "reviewed", "returns"]


class ScorecardDaily(Model):
    """The picks of one group on one date. `reviewed` are the settled ones, also those without a return.

    Means and rates are of the date alone; figures of several dates are made of the counts and sums, which
    `fillable_` repeats without the picks whose purchase would have been at the limit-up price. Decision cards
    have no row: they belong to the API, which computes their figures from the cards. Which picks there are
    follows from scores that the evening ranks.
    """

    stat_date: Date = key("trade date of the picks")
    source: S16 = key("where the picks come from", isin=[*STORED, STRATEGY])
    group_key: S32 = key("board, preset or strategy")
    picks: Int = col("", "picks", nullable=False, ge=1, varies=EVENING)
    reviewed: Int = col("", "of these settled", nullable=False, ge=0, varies=EVENING)
    win_rate_pct: Pct = col(
        "pct", "share of the settled ones with a return above zero", ge=0, le=100, varies=EVENING
    )
    avg_profit_pct: Pct = col("pct", "mean return", varies=EVENING)
    median_profit_pct: Pct = col("pct", "median return", varies=EVENING)
    avg_excess_pct: Pct = col("pct", "mean return less that of the CSI 300", varies=EVENING)
    profit_loss_ratio: F = col("", "mean gain / mean loss", ge=0, decimals=4, varies=EVENING)
    max_gain_pct: Pct = col("pct", "best return", varies=EVENING)
    max_loss_pct: Pct = col("pct", "worst return", varies=EVENING)
    avg_hold_days: F = col("", "mean holding in market dates", ge=0, decimals=4, varies=EVENING)
    unfillable: Int = col(
        "", "settled picks whose purchase would have been at the limit-up price", ge=0, varies=EVENING
    )
    returns: Int = col("", "settled picks with a return", ge=0, varies=EVENING)
    excess_returns: Int = col("", "of these, with a return of the index", ge=0, varies=EVENING)
    wins: Int = col("", "returns above zero", ge=0, varies=EVENING)
    losses: Int = col("", "returns below zero", ge=0, varies=EVENING)
    gain_sum_pct: Pct = col("pct", "sum of the returns above zero", ge=0, varies=EVENING)
    loss_sum_pct: Pct = col("pct", "sum of the returns below zero", le=0, varies=EVENING)
    excess_sum_pct: Pct = col("pct", "sum of the returns less those of the CSI 300", varies=EVENING)
    fillable_reviewed: Int = col("", "reviewed, fillable", ge=0, varies=EVENING)
    fillable_returns: Int = col("", "returns, fillable", ge=0, varies=EVENING)
    fillable_excess_returns: Int = col("", "excess_returns, fillable", ge=0, varies=EVENING)
    fillable_wins: Int = col("", "wins, fillable", ge=0, varies=EVENING)
    fillable_losses: Int = col("", "losses, fillable", ge=0, varies=EVENING)
    fillable_gain_sum_pct: Pct = col("pct", "gain_sum_pct, fillable", ge=0, varies=EVENING)
    fillable_loss_sum_pct: Pct = col("pct", "loss_sum_pct, fillable", le=0, varies=EVENING)
    fillable_excess_sum_pct: Pct = col("pct", "excess_sum_pct, fillable", varies=EVENING)


def scorecards(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every group of the dates asked for, and those of earlier dates that changed since."""
    rows = [row for source in STORED for row in _of_source(ctx, scope, source)]
    rows += _of_strategies(ctx, scope)
    made = pd.DataFrame(rows, columns=list(ScorecardDaily.to_schema().columns))
    stored = ctx.read(TABLE, columns=tuple(_COUNTS), **scope.span)
    known = set(stored.astype(object).itertuples(index=False, name=None))
    reported = made[_COUNTS].astype(object).itertuples(index=False, name=None)
    changed = {row[0] for row in reported if row not in known}
    return made[made["stat_date"].isin(changed | set(scope.asked))].reset_index(drop=True)


def _of_source(ctx: FetchContext, scope: Scope, source: str) -> Iterator[dict[str, Any]]:
    table, group = STORED[source]
    rows = ctx.read(table, columns=(group, *_FIGURES), **scope.span)
    for day, own in rows.groupby("trade_date", sort=True):
        for name, picks in grouped(picks_of(own), own[group].to_numpy(dtype=object)).items():
            yield {"stat_date": day, "source": source, "group_key": name, **_reported(picks)}


def _of_strategies(ctx: FetchContext, scope: Scope) -> Iterator[dict[str, Any]]:
    columns = ("trade_date", "strategy_key", "code")
    hits = ctx.read(HITS, columns=columns, **scope.span)
    if hits.empty:
        return
    prices, benchmark = prices_of(ctx, str(hits["trade_date"].min()), str(hits["trade_date"].max()))
    hits = hits[hits["trade_date"].isin(prices.day_at)].reset_index(drop=True)
    picks = Picks.of(outcomes_of(prices, benchmark, hits_of(hits)))
    for day, own in hits.groupby("trade_date", sort=True):
        of_day = picks.where(hits.index.isin(own.index))
        for name, group in grouped(of_day, own["strategy_key"].to_numpy(dtype=object)).items():
            yield {"stat_date": day, "source": STRATEGY, "group_key": name, **_reported(group)}


def _reported(picks: Picks) -> dict[str, Any]:
    """Figures of a group with the sums that figures of several dates are made of."""
    without = {f"fillable_{name}": value for name, value in vars(Sums.of(fillable(picks))).items()}
    return {**group_stats(picks).as_dict(), **vars(Sums.of(picks)), **without}


def picks_of(rows: pd.DataFrame) -> Picks:
    """Stored picks as the statistics take them."""

    def numbers(name: str) -> Any:
        return pd.to_numeric(rows[name]).to_numpy(dtype=np.float64, na_value=np.nan)

    return Picks(
        status=rows["status"].to_numpy(dtype=object),
        profit_pct=numbers("profit_pct"),
        excess_pct=numbers("excess_pct"),
        hold_days=numbers("hold_days"),
        unfillable=rows["unfillable"].fillna(value=False).to_numpy(dtype=bool),
    )


DATASET = Dataset(
    name=TABLE,
    subject="scores",
    title="Scorecards of boards, presets and strategies by trade date of the picks",
    model=ScorecardDaily,
    adjusted=True,
    calculate=scorecards,
    reads=(*(table for table, _ in STORED.values()), HITS, BARS, INDEX),
    reads_own_past=True,
    revisits=REVISITED_DAYS,
    of_stocks=False,
    monitored=False,
    tasks=("builtin_track", "preset_track"),
    interfaces=(
        market("get_scorecard", "newest_days", "forward-return statistics", ttl=600).takes(
            source=TEXT, days=90
        ),
    ),
)
