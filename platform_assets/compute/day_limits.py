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

    def limits(prices: Floats, flags: Bools, own: Bools) -> tuple[Floats, Floats]:
        return limit_prices(
            prices[own], board[own], flags[own], day[own], listed_days=listed_days[own],
            unlimited=unlimited[own],
        )  # fmt: skip

    state, every = special == 1, np.ones(len(reference), dtype=bool)
    up, down = limits(reference, state, every)
    known = every.copy()
    unsure = np.isnan(special)
    if unsure.any():
        other_up, other_down = limits(reference, every, unsure)
        known[unsure] = _equal(up[unsure], other_up) & _equal(down[unsure], other_down)
    missing = ~(reference > 0)
    if missing.any():
        some, _ = limits(np.full(len(reference), _ANY_PRICE), state, missing)
        known[missing] &= np.isnan(some)
    return DayLimits(np.where(known, up, np.nan), np.where(known, down, np.nan), known)


def _equal(one: Floats, other: Floats) -> Bools:
    equal: Bools = (one == other) | (np.isnan(one) & np.isnan(other))
    return equal


HALF_TICK = 0.0005
"""Half of the smallest tick: limits are whole ticks, prices come as floats."""
BEYOND = 0.0101
"""CNY beyond a limit (more than a tick, by which a computed one may be off) at which nobody could have
traded: the day had no limit."""
NO_LIMIT = "no_limit"
"""State of a day without limits; that of one whose limits are not known is null."""


def at_upper(price: Floats, limit: Floats) -> Bools:
    """At the limit-up price; never where there is no limit."""
    found: Bools = (price >= limit - HALF_TICK) & (price <= limit + BEYOND)
    return found


def at_lower(price: Floats, limit: Floats) -> Bools:
    found: Bools = (price <= limit + HALF_TICK) & (price >= limit - BEYOND)
    return found


def without_limit(high: Floats, low: Floats, up: Floats, down: Floats) -> Bools:
    """Days whose prices show that the limits of an ordinary day did not hold."""
    found: Bools = (high > up + BEYOND) | (low < down - BEYOND)
    return found


def limit_status(rows: pd.DataFrame, *, price: str, traded: pd.Series) -> npt.NDArray[np.str_]:
    """`none`, `up`, `down`, `up_open` / `down_open` (touched, not held), or `no_limit`. Needs high, low,
    limit_up, limit_down and the `price` column; without both limits, or with a price beyond one, there was no
    limit. Of a day without trade it is `none`."""
    live = traded.to_numpy(dtype=bool)
    columns = ("limit_up", "limit_down", price, "high", "low")
    up, down, last, high, low = (floats(rows[name]) for name in columns)
    cases = [
        np.isnan(up) & np.isnan(down) | without_limit(np.fmax(high, last), np.fmin(low, last), up, down),
        at_upper(last, up),
        at_lower(last, down),
        at_upper(high, up),
        at_lower(low, down),
    ]
    states = np.select(cases, [NO_LIMIT, "up", "down", "up_open", "down_open"], default="none")
    return np.where(live, states, "none")
