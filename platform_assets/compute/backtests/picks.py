"""Which stocks of a market the strategies buy on a date."""

from dataclasses import fields, replace

import numpy as np
import numpy.typing as npt

from platform_assets.compute import series
from platform_assets.compute.backtests.strategies import STRATEGIES
from platform_assets.compute.bars import Bars
from platform_assets.compute.factors.ranks import average_ranks
from platform_assets.compute.parameters import backtests as p
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.compute.studies import Prices

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CODES_AT_ONCE = 500
"""What fits into the caches; the results do not depend on it."""


def picks_of(bars: Bars) -> dict[str, Ints]:
    """Strategy -> places in `bars.codes` of those that its default periods buy at their newest bar. The last
    320 bars and the newest are looked at, whatever is there before them."""
    found: dict[str, list[Ints]] = {key: [np.zeros(0, dtype=np.int64)] for key in STRATEGIES}
    for start in range(0, len(bars.codes), CODES_AT_ONCE):
        recent = _part(bars, start, start + CODES_AT_ONCE).newest(WARM_UP_BARS + 1)
        adjusted = series.blocks(recent, "open", "high", "low", "close", adjusted=True)
        prices = Prices(**adjusted, volume=series.block(recent, "volume"))
        for strategy in STRATEGIES.values():
            buy = strategy.run(prices, strategy.chosen()).buy
            found[strategy.key].append(start + np.flatnonzero(buy[:, -1]))
    return {key: np.concatenate(places) for key, places in found.items()}


def _part(bars: Bars, start: int, stop: int) -> Bars:
    """Codes `start` to `stop` (excluded), without copying a row."""
    offsets = bars.offsets[start : stop + 1]
    rows = slice(int(offsets[0]), int(offsets[-1]))
    columns = {one.name: getattr(bars, one.name)[rows] for one in fields(bars)[2:]}
    return replace(bars, codes=bars.codes[start:stop], offsets=offsets - offsets[0], **columns)


def confirmations(bars: Bars) -> Floats:
    """[codes] 0..100: how far price and volume of the newest bar stand out in the market. The mean of two
    ranks in percent, of the change against the reference price and of the volume against the mean of the five
    bars before; what is not known is left out, NaN where neither is."""
    recent = bars.newest(p.SCORE_VOLUME_BARS + 1)
    if not recent.codes:
        return np.zeros(0)
    close, reference = (series.block(recent, name)[:, -1] for name in ("close", "last_close"))
    volume = series.block(recent, "volume")
    width = volume.shape[1]
    mean = volume[:, :-1].mean(axis=1) if width > p.SCORE_VOLUME_BARS else np.full(len(volume), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        change = np.where(reference > 0, close / reference - 1, np.nan)
        surge = np.where(mean > 0, volume[:, -1] / mean, np.nan)
    ranks = []
    for values in (change, surge):
        rank, count = average_ranks(values)
        ranks.append(rank / count * 100 if count else rank)
    known = np.isfinite(ranks)
    count_known = known.sum(axis=0)
    total = np.where(known, ranks, 0.0).sum(axis=0)
    return np.where(count_known > 0, total / np.maximum(count_known, 1), np.nan)
