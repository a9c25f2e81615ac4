"""Transactions of a day from its minute path: volumes sum up, prices stay in their minute's range."""

import numpy as np
import numpy.typing as npt

from resources.simulated_market.world import draws
from resources.simulated_market.world.draws import Stream
from resources.simulated_market.world.intraday import COUNT, MINUTES, Paths
from resources.simulated_market.world.model import Ticks

Ints = npt.NDArray[np.int64]

_SLOTS = 20  # snapshots come every three seconds
_SIDE_BUY, _SIDE_SELL, _SIDE_AUCTION = 0, 1, 2


def transactions(seed: int, day: int, place: int, path: Paths, *, count: int, unit: int, step: int) -> Ticks:
    """Ticks of the first `count` minutes (0 = the opening auction only). `path` has one row."""
    raw = draws.raw(seed, Stream.TICK, day, COUNT * 24, start=place * COUNT * 24).reshape(COUNT, 24)
    rows: list[tuple[int, int, int, int, int, int]] = []
    auction = int(path.auction[0])
    if auction:
        rows.append((565, 0, int(path.open[0, 0]), auction, 1 + auction // (step * 40), _SIDE_AUCTION))
    for k in range(count):
        volume = int(path.volume[0, k]) - (auction if k == 0 else 0)
        if volume <= 0:
            continue
        if k == COUNT - 1:
            orders = 1 + volume // (step * 40)
            rows.append((900, 0, int(path.price[0, k]), volume, orders, _SIDE_AUCTION))
        else:
            rows.extend(_minute(raw[k], path, k, volume, step))
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 6)
    return Ticks(table[:, 0], table[:, 1], table[:, 2] * unit, table[:, 3], table[:, 4], table[:, 5])


def _minute(
    raw: draws.Raw, path: Paths, k: int, volume: int, step: int
) -> list[tuple[int, int, int, int, int, int]]:
    """Trades of one minute: it begins at its open, touches high and low and ends at its last price."""
    u = draws.uniform(raw)
    lots = max(volume // step, 1)
    count = min(_SLOTS, lots, 4 + int(u[20] * 17))
    edges = np.floor(np.cumsum(0.2 + u[:count]) / float((0.2 + u[:count]).sum()) * lots + 0.5).astype(
        np.int64
    )
    sizes = np.diff(edges, prepend=0) * step
    sizes[-1] += volume - int(sizes.sum())
    first, last = int(path.open[0, k]), int(path.price[0, k])
    high, low = int(path.high[0, k]), int(path.low[0, k])
    prices = np.clip(
        np.rint(np.linspace(first, last, count) + (u[:count] - 0.5) * (high - low) * 0.5), low, high
    )
    if count >= 4:
        prices[0], prices[1 + int(u[21] * (count - 3))] = first, high
        prices[count - 2] = low
    prices[-1] = last
    start = int(MINUTES[k]) - 1
    made, before = [], first
    for at in range(count):
        price, size = int(prices[at]), int(sizes[at])
        if size > 0:
            side = _SIDE_BUY if price > before or (price == before and u[at] < 0.5) else _SIDE_SELL
            made.append((start, at * 3 * _SLOTS // count % 60, price, size, 1 + size // (step * 30), side))
        before = price
    return made
