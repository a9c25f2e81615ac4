"""calc_valuation_band: percentiles of PE and PB of each stock in its own past, on the last trade date of a
week.

The past is sampled on last trade dates of weeks as well: 260 dates give the same as 1,250.
"""

from itertools import pairwise

import numpy as np
import pandas as pd

from core.days import monday_of
from core.declaration.columns import Code, Date, F, Model, Pct, col, key
from core.declaration.conditions import one_of
from core.declaration.dataset import Dataset
from core.declaration.frames import stacked
from core.declaration.scope import Calendar, Scope
from core.market.bars import Dense
from platform_assets.compute.parameters import valuation_band as own
from platform_assets.compute.percentiles import band, percentiles
from resources.upstreams.fetch_context import FetchContext

_RATIOS = {"pe": "pe_ttm", "pb": "pb"}
_DATES_OF_A_WEEK = 5


class ValuationBand(Model):
    """One stock on the last trade date of a week. Ratios not above zero say nothing and count nowhere."""

    code: Code = key("security code")
    date: Date = key("last trade date of a week")
    pe_pct_3y: Pct = col("pct", "weeks of three years whose PE (TTM) was not higher", ge=0, le=100)
    pb_pct_3y: Pct = col("pct", "the same of PB", ge=0, le=100)
    pe_pct_5y: Pct = col("pct", "weeks of five years whose PE (TTM) was not higher", ge=0, le=100)
    pb_pct_5y: Pct = col("pct", "the same of PB", ge=0, le=100)
    pe_low: F = col("", "tenth percentile of the PE of five years", gt=0, decimals=4)
    pe_high: F = col("", "ninetieth percentile of the PE of five years", gt=0, decimals=4)
    pb_low: F = col("", "tenth percentile of the PB of five years", gt=0, decimals=4)
    pb_high: F = col("", "ninetieth percentile of the PB of five years", gt=0, decimals=4)


def banded(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Rows of those dates of the scope that end a week."""
    longest = max(own.WEEKS.values())
    ends = week_ends(ctx.calendar, ctx.calendar.last(longest * _DATES_OF_A_WEEK, scope.since)[0], scope.until)
    asked = [day for day in ends if day in set(scope.dates)]
    parts = []
    if asked:
        dense = ctx.panel(
            "fusion_valuation",
            columns=tuple(_RATIOS.values()),
            since=ends[0],
            until=ends[-1],
            conditions=(one_of("date", ends),),
        )
        place = {day: at for at, day in enumerate(dense.dates)}
        for day in asked:
            if day in place:
                weeks = [place.get(one) for one in ends[: ends.index(day) + 1][-longest:]]
                parts.append(_rows(dense, weeks).assign(date=day))
    return stacked(parts, ValuationBand.to_schema().columns)


def week_ends(calendar: Calendar, since: str, until: str) -> list[str]:
    """The last trade dates of the weeks between two dates."""
    days = calendar.between(since, until)
    if not days:
        return []
    coming = calendar.offset(days[-1], 1)
    return [day for day, then in pairwise([*days, coming]) if monday_of(day) != monday_of(then)]


def _rows(dense: Dense, weeks: list[int | None]) -> pd.DataFrame:
    reported = {}
    current = np.zeros(len(dense.codes), dtype=bool)
    for name, column in _RATIOS.items():
        stored = dense.values[column]
        ratios = np.column_stack(
            [np.full(len(dense.codes), np.nan) if at is None else stored[:, at] for at in weeks]
        )
        current |= ~np.isnan(ratios[:, -1])
        for window, count in own.WEEKS.items():
            reported[f"{name}_pct_{window}"] = percentiles(ratios, count)
        reported[f"{name}_low"], reported[f"{name}_high"] = band(ratios, own.WEEKS[own.BAND])
    rows = pd.DataFrame({"code": list(dense.codes), **reported})
    return rows[current].reset_index(drop=True)


DATASET = Dataset(
    name="valuation_band",
    subject="signals",
    title="Bands of PE and PB by week",
    model=ValuationBand,
    calculate=banded,
    reads=("fusion_valuation",),
    of_stocks=False,
    monitored=False,
    tasks=("quant_calc",),
)
