"""State of a price against the day's limits."""

import numpy as np
import numpy.typing as npt
import pandas as pd

HALF_TICK = 0.0005
"""Half of the smallest tick: limits are whole ticks, prices come as floats."""


def limit_status(rows: pd.DataFrame, *, price: str, traded: pd.Series) -> npt.NDArray[np.str_]:
    """`none`, `up`, `down`, or `up_open` / `down_open` (touched, not held). Needs high, low, limit_up,
    limit_down and the `price` column; a null limit is no limit."""
    live = traded.to_numpy(dtype=bool)
    up = rows["limit_up"].to_numpy(dtype=float, na_value=np.nan)
    down = rows["limit_down"].to_numpy(dtype=float, na_value=np.nan)
    last = rows[price].to_numpy(dtype=float, na_value=np.nan)
    high = rows["high"].to_numpy(dtype=float, na_value=np.nan)
    low = rows["low"].to_numpy(dtype=float, na_value=np.nan)
    cases = [
        last >= up - HALF_TICK,
        last <= down + HALF_TICK,
        high >= up - HALF_TICK,
        low <= down + HALF_TICK,
    ]
    states = np.select(cases, ["up", "down", "up_open", "down_open"], default="none")
    return np.where(live, states, "none")
