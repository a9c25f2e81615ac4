"""Forward returns: what a pick of a day earned when it was bought on the next market date and held.

A pick of date t is bought at the open of t+1 (at its close where there is no open) and sold at the close of
t+5; the day of the purchase is the first of the five. The window counts market dates, not the stock's bars:
a stock that rested in it is bought at its first bar there, sold at its last, and is `partial`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Bools, Floats, Ints
from platform_assets.compute.parameters.scorecards import HOLD_DAYS, WAIT_DAYS
from platform_assets.compute.scorecards.prices import Benchmark, Prices

PENDING, PARTIAL, REVIEWED = "pending", "partial", "reviewed"
STATES = (PENDING, PARTIAL, REVIEWED)
_TINY = 0.0005
"""Half of the smallest tick: limits are whole ticks, prices come as floats."""


@dataclass(frozen=True)
class Outcomes:
    """One element per pick; what is not known is NaN, and -1 for a place. Percentages; prices CNY as traded.

    `buy_at` and `sell_at` are places in the dates of the prices; `hold_days` counts market dates from the
    purchase to the sale, both included. `max_gain_pct` is the highest price of the holding against the
    purchase, `max_drawdown_pct` (zero or negative) the deepest fall from the highest price before.
    """

    status: npt.NDArray[np.str_]
    buy_at: Ints
    buy_price: Floats
    sell_at: Ints
    sell_price: Floats
    hold_days: Ints
    profit_pct: Floats
    index_profit_pct: Floats
    excess_pct: Floats
    max_gain_pct: Floats
    max_drawdown_pct: Floats
    unfillable: Bools
    """The purchase would have been at the limit-up price, where there are no sellers."""


def outcomes_of(prices: Prices, benchmark: Benchmark, picks: Sequence[tuple[str, str]]) -> Outcomes:
    """Outcomes of picks (trade date, code); KeyError for a date that is not among those of the prices."""
    code_at = np.array([prices.code_at.get(code, -1) for _, code in picks], dtype=np.int64)
    day_at = np.array([prices.day_at[day] for day, _ in picks], dtype=np.int64)
    return forward_returns(prices, benchmark, code_at, day_at)


def forward_returns(
    prices: Prices,
    benchmark: Benchmark,
    code_at: Ints,
    day_at: Ints,
    *,
    hold: int = HOLD_DAYS,
    wait: int = WAIT_DAYS,
    ranges: bool = True,
) -> Outcomes:
    """Outcomes of picks: `code_at` is the place of each pick's code (-1: it has no bar at all), `day_at` that
    of its date. Nothing is settled before its window has closed. A window in which a date was not loaded, or
    the benchmark has no bar, stays pending for `wait` dates: what is missing may come. Without `ranges` the
    largest gain and the deepest fall are not looked for."""
    size = len(day_at)
    closed = prices.newest - day_at
    spans = day_at[:, None] + np.arange(1, hold + 1)
    inside = np.minimum(spans, len(prices.dates) - 1)
    rows = np.maximum(code_at, 0)[:, None]

    def window(values: Floats) -> Floats:
        if not len(prices.codes):
            return np.full(inside.shape, np.nan)
        return np.where((spans < len(prices.dates)) & (code_at >= 0)[:, None], values[rows, inside], np.nan)

    closes = window(prices.close)
    traded = np.isfinite(closes)
    bars = traded.sum(axis=1)
    complete = (closed >= hold) & prices.loaded[inside].all(axis=1)
    waited = closed >= wait
    first = np.where(bars > 0, traded.argmax(axis=1), 0)
    last = np.where(bars > 0, hold - 1 - traded[:, ::-1].argmax(axis=1), 0)
    pick = np.arange(size)

    def at(values: Floats, place: Ints) -> Floats:
        if not len(prices.codes):
            return np.full(size, np.nan)
        days = spans[pick, place]
        return np.where(
            (days < len(prices.dates)) & (code_at >= 0), values[rows[:, 0], inside[pick, place]], np.nan
        )

    opened = at(prices.open, first)
    by_open = np.isfinite(opened) & (opened > 0)
    bought = np.where(by_open, opened, closes[pick, first])
    sold = closes[pick, last]
    entry = bought * at(prices.factor, first)
    profit = (sold * at(prices.factor, last) / entry - 1) * 100
    index = _index_return(benchmark, inside[pick, first], inside[pick, last], by_open)
    reported = complete & np.isfinite(index)
    settled = np.where(bars > 0, reported | (waited & (closed >= hold)), waited)
    status = np.where(settled, np.where(bars == hold, REVIEWED, PARTIAL), PENDING)
    known = settled & (bars > 0)

    limits = at(prices.limit_up, first)
    with np.errstate(invalid="ignore"):
        unfillable = known & np.isfinite(limits) & (bought >= limits - _TINY)
    gain = drawdown = np.full(size, np.nan)
    if ranges:
        highs, lows, factors = window(prices.high), window(prices.low), window(prices.factor)
        # What was bought at a close has seen nothing of that day's range.
        highs[pick, first] = np.where(by_open, highs[pick, first], bought)
        lows[pick, first] = np.where(by_open, lows[pick, first], bought)
        gain, drawdown = _extremes(highs * factors, lows * factors, entry)

    def shown(values: Floats) -> Floats:
        return np.where(known, values, np.nan)

    return Outcomes(
        status=status,
        buy_at=np.where(known, inside[pick, first], -1),
        buy_price=shown(bought),
        sell_at=np.where(known, inside[pick, last], -1),
        sell_price=shown(sold),
        hold_days=np.where(known, last - first + 1, -1),
        profit_pct=shown(profit),
        index_profit_pct=shown(index),
        excess_pct=shown(profit - index),
        max_gain_pct=shown(gain),
        max_drawdown_pct=shown(drawdown),
        unfillable=unfillable,
    )


def _index_return(benchmark: Benchmark, buy: Ints, sell: Ints, by_open: Bools) -> Floats:
    """Percent over the same dates, from the open where the pick was bought at an open."""
    opened, closed = benchmark.open[buy], benchmark.close[buy]
    start = np.where(by_open & np.isfinite(opened), opened, closed)
    return (benchmark.close[sell] / start - 1) * 100


def _extremes(high: Floats, low: Floats, entry: Floats) -> tuple[Floats, Floats]:
    """(largest gain, deepest fall) in percent of adjusted prices [picks, days]. The order of high and low
    within a day is not known: a low is compared with the purchase and the highs of the days before."""
    highs = np.where(np.isfinite(high), high, 0.0)
    gain = np.where(highs.max(axis=1) > 0, (highs.max(axis=1) / entry - 1) * 100, np.nan)
    peak = np.maximum.accumulate(np.concatenate([entry[:, None], highs[:, :-1]], axis=1), axis=1)
    falls = np.where(np.isfinite(low), low / peak - 1, 0.0)
    return gain, np.minimum(falls.min(axis=1), 0.0) * 100


def is_settled(rows: pd.DataFrame) -> pd.Series:
    """Which stored picks may not change any more."""
    return rows["status"].ne(PENDING)


def rebuilt(found: pd.DataFrame, stored: pd.DataFrame, group: str) -> pd.DataFrame:
    """Picks of one date by `group`. A group without a settled pick is as it was `found`. Of another the
    settled ones are kept, and each pending one gives its rank to one of those found, best first: no pick is
    added to a board whose outcome is known already."""
    settled = stored[is_settled(stored)] if len(stored) else stored
    if settled.empty:
        return found
    made = [settled]
    for key, rows in found.groupby(group, sort=True):
        own = settled[settled[group] == key]
        if own.empty:
            made.append(rows)
            continue
        pending = stored[(stored[group] == key) & ~is_settled(stored)]
        free = sorted(pending["rank_no"].astype(int))
        others = rows[~rows["code"].isin(own["code"])].sort_values("rank_no").head(len(free))
        made.append(others.assign(rank_no=free[: len(others)]))
    return pd.concat(made, ignore_index=True)
