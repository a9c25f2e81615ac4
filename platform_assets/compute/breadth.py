"""Counts of stocks that rise, fall and are at a limit at one moment. Pure."""

from typing import Any

import numpy as np
import pandas as pd

from platform_assets.compute.limit_state import HALF_TICK

_EPS = 1e-6


def breadth(rows: pd.DataFrame) -> dict[str, Any]:
    """Counts over the stocks that have traded today. Columns: price, last_close, limit_up, limit_down (CNY,
    null = no limit), volume (shares), amount (CNY), main_net (CNY, null = not known). `amount` and `main_net`
    are sums, the latter None where no stock has any."""

    def column(name: str) -> Any:
        return rows[name].to_numpy(dtype=float, na_value=np.nan)

    price, before = column("price"), column("last_close")
    traded = (column("volume") > 0) & (price > 0) & (before > 0)
    moved = np.where(traded, price - before, 0.0)
    net = column("main_net")[traded]
    with np.errstate(invalid="ignore"):
        up = traded & (price >= column("limit_up") - HALF_TICK)
        down = traded & (price <= column("limit_down") + HALF_TICK)
    return {
        "up_count": int((moved > _EPS).sum()),
        "down_count": int((moved < -_EPS).sum()),
        "flat_count": int((traded & (np.abs(moved) <= _EPS)).sum()),
        "limit_up_count": int(up.sum()),
        "limit_down_count": int(down.sum()),
        "amount": round(float(np.nansum(column("amount")[traded])), 2),
        "main_net": None if np.isnan(net).all() else round(float(np.nansum(net)), 2),
    }
