"""Checks of year-to-date series against those of the single months, of which they are the sum or the mean."""

from collections.abc import Mapping

import pandas as pd

from core.declaration.scope import Context
from platform_assets.compute.series_checks import WINDOW, mean_fits
from platform_assets.datasets import _macro_series as macro
from platform_assets.datasets._macro_sources import TABLE

_ROUNDED, _REVISED = 0.11, 0.005
"""Difference that rounding to one decimal may hide; share by which a month may be revised before the year's
sum is."""
_MEAN_ROUNDED = 0.2
"""What rounding a mean, the one before it and its newest month to one decimal may hide."""


def with_past(rows: pd.DataFrame, context: Context, others: frozenset[str] = frozenset()) -> pd.DataFrame:
    """indicator, period_date, value of all that is known of the load's series and of `others`, in
    order; `at` is the row of the load, or null."""
    names = ["indicator", "period_date", "value"]
    stored = context.read(TABLE, columns=tuple(names))
    own = rows[names].assign(at=rows.index)
    requested = set(rows["indicator"]) | others
    both = pd.concat([stored[stored["indicator"].isin(requested)], own], ignore_index=True)
    both = both.drop_duplicates(["indicator", "period_date"], keep="last")
    return both.sort_values(["indicator", "period_date"], kind="stable", ignore_index=True)


def accumulates_within_its_year(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The year up to January is January; an amount of the year up to now falls only after a month below 0; a
    mean of it is that of its months, or moves no further than one month can move it."""
    sums = rows[rows["indicator"].isin(set(macro.YEAR_TO_DATE))]
    singles = frozenset(macro.YEAR_TO_DATE.values())
    monthly = rows[rows["indicator"].isin(singles)]
    known = with_past(pd.concat([sums, monthly]), context, singles)
    fine = pd.Series(True, index=rows.index)
    values = {
        (name, str(day)[:7]): float(value)
        for name, day, value in zip(known["indicator"], known["period_date"], known["value"], strict=True)
    }
    for at, name, day, value in zip(
        sums.index, sums["indicator"], sums["period_date"], sums["value"], strict=True
    ):
        year, month = str(day)[:4], int(str(day)[5:7])
        single = values.get((macro.YEAR_TO_DATE[name], str(day)[:7]))
        if month == 1 and single is not None:
            least = _REVISED * abs(single) if name in macro.SUMS else _ROUNDED
            fine.loc[at] = abs(value - single) <= max(least, _ROUNDED)
        elif name in macro.SUMS:
            earlier = [values.get((name, f"{year}-{one:02d}")) for one in range(1, month)]
            before = next((one for one in reversed(earlier) if one is not None), None)
            fell = before is not None and value < before - _ROUNDED
            fine.loc[at] = not fell or (single is not None and single < 0)
        else:
            of = macro.YEAR_TO_DATE[name]
            months = [values.get((of, f"{year}-{one:02d}")) for one in range(1, month + 1)]
            fine.loc[at] = mean_fits(
                value,
                months,
                values.get((name, f"{year}-{month - 1:02d}")),
                _usual(values, of, f"{year}-{month:02d}"),
                _MEAN_ROUNDED,
            )
    return fine


def _usual(values: Mapping[tuple[str, str], float], name: str, month: str) -> tuple[float, float] | None:
    """Least and most of the months before, two years of them at most; None where none is known."""
    year, of_year = month.split("-")
    reported = [
        values[key]
        for back in range(1, WINDOW + 1)
        if (key := (name, _month_before(int(year), int(of_year), back))) in values
    ]
    return (min(reported), max(reported)) if reported else None


def _month_before(year: int, month: int, back: int) -> str:
    place = year * 12 + month - 1 - back
    return f"{place // 12}-{place % 12 + 1:02d}"
