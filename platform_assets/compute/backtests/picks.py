"""Which stocks of a market the strategies buy on a date."""

from dataclasses import fields, replace

import numpy as np

from core.arrays import Floats, Ints
from core.market.bars import Bars
from platform_assets.compute import series
from platform_assets.compute.backtests.strategies import STRATEGIES
from platform_assets.compute.nan_arithmetic import average_ranks, divided, weighted_mean
from platform_assets.compute.parameters import backtests as p
from platform_assets.compute.studies import Prices

CODES_AT_ONCE = 500
"""What fits into the caches; the results do not depend on it."""


def picks_of(bars: Bars, rows: Ints) -> dict[str, Ints]:
    """Strategy -> places in `rows` of those that its default periods buy at that bar. Every bar of a code up
    to the row counts: which ones a stock is judged by is up to the caller."""
    owner = bars.owner[rows]
    found: dict[str, list[Ints]] = {key: [np.zeros(0, dtype=np.int64)] for key in STRATEGIES}
    for start in range(0, len(bars.codes), CODES_AT_ONCE):
        part = _part(bars, start, start + CODES_AT_ONCE)
        own = np.flatnonzero((owner >= start) & (owner < start + CODES_AT_ONCE))
        adjusted = series.blocks(part, "open", "high", "low", "close", adjusted=True)
        prices = Prices(**adjusted, volume=series.block(part, "volume"))
        at = prices.close.shape[1] - (bars.offsets[owner[own] + 1] - rows[own])
        for strategy in STRATEGIES.values():
            buy = strategy.run(prices, strategy.chosen()).buy
            found[strategy.key].append(own[buy[owner[own] - start, at]])
    return {key: np.concatenate(places) for key, places in found.items()}


def _part(bars: Bars, start: int, stop: int) -> Bars:
    """Codes `start` to `stop` (excluded), without copying a row."""
    offsets = bars.offsets[start : stop + 1]
    rows = slice(int(offsets[0]), int(offsets[-1]))
    columns = {one.name: getattr(bars, one.name)[rows] for one in fields(bars)[2:]}
    return replace(bars, codes=bars.codes[start:stop], offsets=offsets - offsets[0], **columns)


def confirmations(bars: Bars, rows: Ints) -> Floats:
    """[rows] 0..100: rank of price and volume of a bar in the market of its date. The mean of two
    ranks in percent, of the change against the reference price and of the volume against the mean of the five
    bars before; what is not known is left out, NaN where neither is."""
    before = rows[:, None] - np.arange(p.SCORE_VOLUME_BARS, 0, -1)[None, :]
    there = before >= bars.offsets[bars.owner[rows]][:, None]
    mean = np.where(there, bars.volume[np.where(there, before, 0)], np.nan).mean(axis=1)
    change = divided(bars.close[rows], bars.last_close[rows]) - 1
    surge = divided(bars.volume[rows], mean)
    scores = np.full(len(rows), np.nan)
    days = bars.date[rows]
    for day in np.unique(days):
        own = np.flatnonzero(days == day)
        scores[own] = _mean_rank(change[own], surge[own])
    return scores


def _mean_rank(*measures: Floats) -> Floats:
    """The mean of the ranks of some measures in percent, of those that are known."""
    ranked = [average_ranks(values) for values in measures]
    shares = np.array([rank / max(count, 1) * 100 for rank, count in ranked])
    return weighted_mean(shares, np.ones(len(shares)))[0]
