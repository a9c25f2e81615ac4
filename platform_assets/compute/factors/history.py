"""Inputs of the factors for many dates at once, from stored series: what the wide row of each date would say.

Arrays are [dates, codes], oldest date first, NaN where a code has no row. A row looks at its own and earlier
dates only.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.arrays import Bools, Floats
from core.days import moved
from platform_assets.compute.factors.definitions import FACTORS
from platform_assets.compute.factors.scores import score
from platform_assets.compute.limit_days import limit_streaks
from platform_assets.compute.nan_arithmetic import divided

YEAR = 250
"""Sessions before a date that its inputs look at."""
REPORT_FIELDS = ("roe", "gross_margin", "net_margin", "roa", "revenue_yoy", "net_profit_yoy")


@dataclass(frozen=True)
class BarHistory:
    """Bars of consecutive sessions. `close` times the cumulative factor; `up`, `up_open` 1.0 where the limit
    was held, or touched and not held, NaN where there was no trade."""

    dates: Sequence[str]
    close: Floats
    volume: Floats
    up: Floats
    up_open: Floats

    def inputs(self) -> dict[str, Floats]:
        """Inputs by column, in percent where they are changes."""
        found = {f"chg_{n}d": self.change(n) for n in (3, 5, 10, 20, 60)}
        found["chg_1y"] = self.change(YEAR)
        found["chg_ytd"] = self._change_ytd()
        traded = self.volume > 0
        found["ma5_dev_pct"] = (self.close / over_traded(self.close, traded, _mean_of_five) - 1) * 100
        found["vol_accel_5_5"] = over_traded(self.volume, traded, _acceleration)
        found["limit_up_count_20d"] = sum_of_last(self.up, 20)
        found["break_fail_days_5d"] = sum_of_last(self.up_open, 5)
        found["limit_days_today"] = limit_streaks(self.up, YEAR + 1)
        return found

    def change(self, sessions: int) -> Floats:
        """Percent against the close `sessions` sessions before."""
        return (self.close / shifted(self.close, sessions) - 1) * 100

    def following(self, sessions: int) -> Floats:
        """Percent from each date's close to the one `sessions` sessions later; NaN where that is to come."""
        percent: Floats = np.full_like(self.close, np.nan)
        if 0 < sessions < len(self.close):
            percent[:-sessions] = (self.close[sessions:] / self.close[:-sessions] - 1) * 100
        return percent

    def _change_ytd(self) -> Floats:
        percent = np.full_like(self.close, np.nan)
        last_of_year = -1
        for at, day in enumerate(self.dates):
            if at and day[:4] != self.dates[at - 1][:4]:
                last_of_year = at - 1
            if last_of_year >= 0:
                percent[at] = (self.close[at] / self.close[last_of_year] - 1) * 100
        return percent


def shifted(values: Floats, rows: int) -> Floats:
    """Each row as it was `rows` rows before; NaN in the first ones."""
    before = np.full_like(values, np.nan)
    before[rows:] = values[: len(values) - rows] if rows < len(values) else before[rows:]
    return before


def over_traded(values: Floats, traded: Bools, work: Callable[[Floats], Floats]) -> Floats:
    """`work` of each code's traded sessions alone; a session without trade has the figure of the last one."""
    found = np.full_like(values, np.nan)
    for place in range(values.shape[1]):
        at = np.flatnonzero(traded[:, place])
        found[at, place] = work(values[at, place])
    last = np.maximum.accumulate(np.where(traded, np.arange(len(values))[:, None], -1), axis=0)
    carried = np.take_along_axis(found, np.maximum(last, 0), axis=0)
    return np.where(last >= 0, carried, np.nan)


def _mean_of_five(values: Floats) -> Floats:
    return mean_of_last(values, 5)


def _acceleration(volume: Floats) -> Floats:
    mean = mean_of_last(volume, 5)
    return divided(mean, shifted(mean, 5))


def mean_of_last(values: Floats, rows: int) -> Floats:
    """Mean of a row and those before it, `rows` in all; NaN where one of them is missing."""
    total = values.copy()
    for back in range(1, rows):
        total = total + shifted(values, back)
    return total / rows


def sum_of_last(values: Floats, rows: int) -> Floats:
    """Sum of what is known in a row and those before it, `rows` in all or as many as there are."""
    known = np.nan_to_num(values)
    total = known.copy()
    for back in range(1, rows):
        total += np.nan_to_num(shifted(known, back))
    return total


def as_published(
    dates: Sequence[str], reports: Iterable[tuple[str, str, Sequence[float | None]]], oldest_days: int
) -> Floats:
    """[dates, fields] figures of the newest report period of one code that was announced by each date and
    ended at most `oldest_days` before it. `reports`: (day of announcement, report period, figures)."""
    ordered = sorted(reports, key=lambda one: (one[0], one[1]))
    width = len(ordered[0][2]) if ordered else 0
    found = np.full((len(dates), width), np.nan)
    newest: tuple[str, Sequence[float | None]] | None = None
    reported = 0
    for at, day in enumerate(dates):
        while reported < len(ordered) and ordered[reported][0] <= day:
            if newest is None or ordered[reported][1] >= newest[0]:
                newest = (ordered[reported][1], ordered[reported][2])
            reported += 1
        if newest is not None and newest[0] >= moved(day, -oldest_days):
            found[at] = [np.nan if one is None else one for one in newest[1]]
    return found


def scores_by_date(inputs: dict[str, Floats], traded: Bools) -> dict[str, Floats]:
    """[dates, codes] by factor key: each date's codes that traded, ranked among themselves."""
    found = {factor.key: np.full(traded.shape, np.nan) for factor in FACTORS}
    for at, there in enumerate(traded):
        if there.any():
            scored = score({field: values[at, there] for field, values in inputs.items()})
            for key, values in scored.factors.items():
                found[key][at, there] = values
    return found
