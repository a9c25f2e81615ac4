"""Price limits of bars from what is known of each: where a rule applies and one of its figures is not
known, the limit is not known either. Pure numpy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Bools, Floats
from core.market.rules import limit_prices
from platform_assets.compute.nan_arithmetic import floats

_ANY_PRICE = 10.0


@dataclass(frozen=True)
class DayLimits:
    """`up`, `down` in CNY, NaN where there is no limit or it is not known; `known` distinguishes the two."""

    up: Floats
    down: Floats
    known: Bools


def day_limits(
    reference: Floats,
    board: npt.NDArray[Any],
    special: Floats,
    day: npt.NDArray[Any],
    *,
    listed_days: npt.NDArray[np.int64],
    unlimited: Bools,
) -> DayLimits:
    """Limits of each row. `special` is 1 under special treatment, 0 not, NaN when it is not known: then a
    limit is known only where both bands are the same. A missing `reference` price leaves it unknown wherever
    one applies."""

    def limits(prices: Floats, flags: Bools) -> tuple[Floats, Floats]:
        return limit_prices(prices, board, flags, day, listed_days=listed_days, unlimited=unlimited)

    state = special == 1
    up, down = limits(reference, state)
    known = np.ones(len(up), dtype=bool)
    unsure = np.isnan(special)
    if unsure.any():
        other_up, other_down = limits(reference, np.ones(len(up), dtype=bool))
        known &= ~unsure | (_equal(up, other_up) & _equal(down, other_down))
    missing = ~(reference > 0)
    if missing.any():
        some, _ = limits(np.where(missing, _ANY_PRICE, reference), state)
        known &= ~missing | np.isnan(some)
    return DayLimits(np.where(known, up, np.nan), np.where(known, down, np.nan), known)


def _equal(one: Floats, other: Floats) -> Bools:
    equal: Bools = (one == other) | (np.isnan(one) & np.isnan(other))
    return equal


HALF_TICK = 0.0005
"""Half of the smallest tick: limits are whole ticks, prices come as floats."""


def limit_status(rows: pd.DataFrame, *, price: str, traded: pd.Series) -> npt.NDArray[np.str_]:
    """`none`, `up`, `down`, or `up_open` / `down_open` (touched, not held). Needs high, low, limit_up,
    limit_down and the `price` column; a null limit is no limit."""
    live = traded.to_numpy(dtype=bool)
    columns = ("limit_up", "limit_down", price, "high", "low")
    up, down, last, high, low = (floats(rows[name]) for name in columns)
    cases = [
        last >= up - HALF_TICK,
        last <= down + HALF_TICK,
        high >= up - HALF_TICK,
        low <= down + HALF_TICK,
    ]
    states = np.select(cases, ["up", "down", "up_open", "down_open"], default="none")
    return np.where(live, states, "none")
