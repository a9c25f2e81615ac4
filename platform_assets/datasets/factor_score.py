"""calc_factor_score: the eleven factor scores of every stock by trade date, ranked within the whole market.

Computed from the wide row of the date alone, so that a later load changes a score only where it changes that
row. Special treatment is that of the date: the wide row takes it from the history of names.
"""

import pandas as pd

from core.declaration.columns import EVENING, S32, S255, Bool, Code, Date, F, Model, col, key
from core.declaration.dataset import Dataset
from core.declaration.interfaces import DAY, REQUIRED, stock
from core.declaration.rules import Whole
from core.declaration.scope import Context, Scope
from platform_assets.compute.factors.definitions import FACTORS, INPUT_COLUMNS, Factor
from platform_assets.compute.factors.gates import GATE_COLUMNS
from platform_assets.compute.factors.scores import factor_scores
from platform_assets.datasets import _wide_bars
from resources.upstreams.fetch_context import FetchContext

WIDE = "fusion_stock_wide"
_READ = tuple(dict.fromkeys(("code", "current_price", "is_suspended", *GATE_COLUMNS, *INPUT_COLUMNS)))


class FactorScore(Model):
    """Scores 0..100 within the market of the date; null where a stock has none of a factor's inputs."""

    trade_date: Date = key("trade date")
    code: Code = key("security code")
    momentum: F = col(
        "", "gains of 20 and 60 sessions and of a year", ge=0, le=100, decimals=4, varies=EVENING
    )
    quality_score: F = col(
        "", "return on equity and assets, margins", ge=0, le=100, decimals=4, varies=EVENING
    )
    value: F = col("", "price / earnings, book, sales; low is good", ge=0, le=100, decimals=4, varies=EVENING)
    growth: F = col("", "revenue and profit, year on year", ge=0, le=100, decimals=4, varies=EVENING)
    trend: F = col(
        "",
        "deviation from the 5-session mean, gains of the year and of 10 sessions",
        ge=0,
        le=100,
        decimals=4,
        varies=EVENING,
    )
    capital: F = col("", "main net inflow, share and amount", ge=0, le=100, decimals=4, varies=EVENING)
    stability: F = col("", "range of the day; low is good", ge=0, le=100, decimals=4, varies=EVENING)
    short_term: F = col(
        "", "gains of 3 and 5 sessions, speed, volume acceleration", ge=0, le=100, decimals=4, varies=EVENING
    )
    liquidity: F = col("", "amount, float cap, turnover", ge=0, le=100, decimals=4, varies=EVENING)
    limit_gene: F = col(
        "", "limit-ups, boards of the day; failed ones are bad", ge=0, le=100, decimals=4, varies=EVENING
    )
    size: F = col("", "total market cap; low is good", ge=0, le=100, decimals=4, varies=EVENING)
    composite: F = col(
        "", "weighted mean of the factors that are there", ge=0, le=100, decimals=4, varies=EVENING
    )
    covered_weight: F = col(
        "", "weight of the factors that are there, of all", ge=0, le=1, decimals=4, varies=EVENING
    )
    gate_blocked: Bool = col(title="kept out by a hard gate", nullable=False)
    gate_code: S32 = col(title="st, roe_negative, debt_high; null where it passes")
    gate_reason: S255 = col(title="why it is kept out")


def scored(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The market of each date, ranked within that date."""
    parts = []
    for day in scope.dates:
        # Ranks are those within the market: a run for some codes computes them all and keeps its own.
        wide = ctx.read(WIDE, columns=_READ, since=day, until=day)
        rows = factor_scores(wide).assign(trade_date=day)
        parts.append(rows[rows["code"].map(scope.covers).astype(bool)])
    return pd.concat(parts, ignore_index=True)


def scores_most_stocks(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 95 % of the stocks have half of the weights covered."""
    if not len(rows):
        return None
    thin = int((rows["covered_weight"] < 0.5).sum())
    return f"{thin} of {len(rows)} stocks lack most of their inputs" if thin > 0.05 * len(rows) else None


def _looks_at_adjusted(factor: Factor) -> bool:
    return any(figure.field in _wide_bars.ADJUSTED for figure in factor.inputs)


DATASET = Dataset(
    name="factor_score",
    subject="scores",
    title="Factor scores of stocks",
    model=FactorScore,
    adjusted=("composite", *(one.column for one in FACTORS if _looks_at_adjusted(one))),
    calculate=scored,
    whole=(Whole(scores_most_stocks),),
    reads=(WIDE,),
    owners={one.column: (WIDE, one.inputs[0].field) for one in FACTORS if len(one.inputs) == 1},
    monitored=False,  # neither counted nor watched: the dictionary names which tables are
    tasks=("preset_track",),
    interfaces=(
        stock(
            "get_factor_score",
            "dated",
            "eleven factor scores and composite of a code on a trade date (default: its newest)",
            ttl=600,
            returns="object|null",
        ).takes(code=REQUIRED, trade_date=DAY),
    ),
)
