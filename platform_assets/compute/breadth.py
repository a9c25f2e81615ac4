"""Counts of stocks that rise, fall and are at a limit at one moment, and the mood that they make. Pure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from platform_assets.compute.day_limits import at_lower, at_upper
from platform_assets.compute.nan_arithmetic import floats

_EPS = 1e-6


def breadth(rows: pd.DataFrame) -> dict[str, Any]:
    """Counts over the stocks that have traded today. Columns: price, last_close, limit_up, limit_down (CNY,
    null = no limit), volume (shares), amount (CNY), main_net (CNY, null = not known). `amount` and `main_net`
    are sums, the latter None where no stock has any."""

    price, before = floats(rows["price"]), floats(rows["last_close"])
    traded = (floats(rows["volume"]) > 0) & (price > 0) & (before > 0)
    moved = np.where(traded, price - before, 0.0)
    net = floats(rows["main_net"])[traded]
    with np.errstate(invalid="ignore"):
        up = traded & at_upper(price, floats(rows["limit_up"]))
        down = traded & at_lower(price, floats(rows["limit_down"]))
    return {
        "up_count": int((moved > _EPS).sum()),
        "down_count": int((moved < -_EPS).sum()),
        "flat_count": int((traded & (np.abs(moved) <= _EPS)).sum()),
        "limit_up_count": int(up.sum()),
        "limit_down_count": int(down.sum()),
        "amount": round(float(np.nansum(floats(rows["amount"])[traded])), 2),
        "main_net": None if np.isnan(net).all() else round(float(np.nansum(net)), 2),
    }


LABELS = ((80.0, "亢奋"), (60.0, "乐观"), (40.0, "中性"), (20.0, "谨慎"))
_LOWEST = "恐慌"


def sentiment_score(
    up: int, down: int, limit_up: int, limit_down: int, index_changes: Sequence[float]
) -> float | None:
    """0..100, two decimals: half from the share of rising stocks, a fifth from that of limit-ups among the
    limits (one half without any), three tenths from the mean change of the main indices (percent, -3 to +3).
    None without a moving stock or an index. Source: quant guide, `sentiment_score`."""
    if up + down == 0 or not index_changes:
        return None
    limits = limit_up / (limit_up + limit_down) if limit_up + limit_down else 0.5
    mean = sum(index_changes) / len(index_changes)
    indices = min(1.0, max(0.0, (mean + 3) / 6))
    return round(100 * (0.5 * up / (up + down) + 0.2 * limits + 0.3 * indices), 2)


def sentiment_label(score: float | None) -> str | None:
    """亢奋 from 80, 乐观 from 60, 中性 from 40, 谨慎 from 20, else 恐慌."""
    if score is None:
        return None
    return next((label for least, label in LABELS if score >= least), _LOWEST)
