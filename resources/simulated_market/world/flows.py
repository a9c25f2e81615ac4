"""Daily money flow by order size: the four nets sum to 0, in and out to half of the bar's amount each."""

import numpy as np

from resources.simulated_market.world import draws
from resources.simulated_market.world.draws import Stream
from resources.simulated_market.world.model import Bars, Flow

LIMIT = 120
_SHARES = np.asarray([0.16, 0.24, 0.31, 0.29])  # super, large, medium, small


def daily_flows(bars: Bars, place: int, first: int, seed: int) -> list[Flow]:
    """Flows of the traded rows among the newest 120 bars; `first` = session index of the first bar."""
    start = max(len(bars) - LIMIT, 0)
    count = len(bars) - start
    if count == 0:
        return []
    raw = draws.raw(seed, Stream.FLOW, place, count * 8, start=(first + start) * 8).reshape(count, 8)
    kept = np.flatnonzero(bars.traded[start:])
    u, z = draws.uniform(raw)[kept], draws.normal(raw)[kept]
    close = bars.close[start:][kept]
    change = (close / bars.preclose[start:][kept] - 1) * 100
    fen = np.rint(bars.amount[start:][kept] * 100).astype(np.int64)
    weights = _SHARES * (0.5 + u[:, :4])
    weights = weights / weights.sum(axis=1, keepdims=True)
    pull = np.clip(0.012 * change + 0.05 * z[:, 4], -0.3, 0.3)
    split = 0.55 + 0.1 * z[:, 5]
    net, gross = (np.zeros((len(kept), 4), dtype=np.int64) for _ in range(2))
    net[:, 0] = (fen * pull * split).astype(np.int64)
    net[:, 1] = (fen * pull * (1 - split)).astype(np.int64)
    net[:, 2] = (-fen * pull * (0.35 + 0.15 * z[:, 6])).astype(np.int64)
    net[:, 3] = -net[:, :3].sum(axis=1)
    gross[:, :3] = (fen[:, None] * weights[:, :3]).astype(np.int64)
    gross[:, 3] = fen - gross[:, :3].sum(axis=1)
    inflow = (np.maximum(gross, np.abs(net)) + net) // 2
    sides = np.stack([inflow, inflow - net], axis=2).reshape(len(kept), 8) / 100
    return [
        Flow(date, a, b, c, d, e, f, g, h, at, round(percent, 2))
        for date, (a, b, c, d, e, f, g, h), at, percent in zip(
            bars.date[start:][kept].tolist(), sides.tolist(), close.tolist(), change.tolist(), strict=True
        )
    ]
