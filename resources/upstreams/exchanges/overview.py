"""Turnover and value of an exchange's market on one date: the columns of both exchanges' answers."""

import math
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing.frames import frame, numbers, texts

OVERVIEW_COLUMNS: dict[str, str] = {
    **texts("trade_date exchange sec_class"),
    **numbers("listed_count total_market_cap_yi float_market_cap_yi amount_yi volume_yi pe_ratio"),
    **numbers("turnover_pct"),
}
"""100 million CNY and shares, percent."""
STOCKS = "股票"
_CHEAPEST, _DEAREST = 0.2, 2000.0


def overview(rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """Columns `OVERVIEW_COLUMNS`. PayloadError when a class came twice, floats more than there is, or mean
    price or turnover of a day are those of another unit."""
    for row in rows:
        label = f"{what} {row['sec_class']}"
        total, floating = row.get("total_market_cap_yi", math.nan), row.get("float_market_cap_yi", math.nan)
        if floating > total * 1.001:
            raise PayloadError(f"{label}: the float is worth more than all shares")
        traded, volume = row.get("amount_yi", math.nan), row.get("volume_yi", math.nan)
        if volume > 0 and traded > 0 and not _CHEAPEST <= traded / volume <= _DEAREST:
            raise PayloadError(f"{label}: a mean price of {traded / volume:g}: another unit")
        if row["sec_class"] == STOCKS and traded > total:
            raise PayloadError(f"{label}: more was traded than there is: another unit")
    made = frame(rows, OVERVIEW_COLUMNS)
    if made.duplicated(subset=["sec_class"]).any():
        raise PayloadError(f"{what}: a class came twice")
    return made
