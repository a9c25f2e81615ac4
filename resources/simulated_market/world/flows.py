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
    u, z = draws.uniform(raw), draws.normal(raw)
    made = []
    for k in range(count):
        row = start + k
        if not bars.traded[row]:
            continue
        change = (int(bars.close[row]) / int(bars.preclose[row]) - 1) * 100
        fen = round(float(bars.amount[row]) * 100)
        weights = _SHARES * (0.5 + u[k, :4])
        weights = weights / weights.sum()
        pull = float(np.clip(0.012 * change + 0.05 * z[k, 4], -0.3, 0.3))
        split = 0.55 + 0.1 * float(z[k, 5])
        nets = [
            int(fen * pull * split),
            int(fen * pull * (1 - split)),
            int(-fen * pull * (0.35 + 0.15 * float(z[k, 6]))),
        ]
        nets.append(-sum(nets))
        sides = [int(fen * float(w)) for w in weights[:3]]
        sides.append(fen - sum(sides))
        pairs = []
        for side, net in zip(sides, nets, strict=True):
            gross = max(side, abs(net))
            pairs.append(((gross + net) // 2, (gross + net) // 2 - net))
        (a, b), (c, d), (e, f), (g, h) = ((into / 100, out / 100) for into, out in pairs)
        made.append(Flow(int(bars.date[row]), a, b, c, d, e, f, g, h, int(bars.close[row]), round(change, 2)))
    return made
