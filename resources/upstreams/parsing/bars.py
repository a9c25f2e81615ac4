"""Bars as every upstream's parser returns them, and the checks that all of them must pass."""

import math
from collections.abc import Sequence
from typing import Any

from core.errors import PayloadError
from core.market.symbols import Instrument
from resources.rejections import reject
from resources.upstreams.parsing.frames import numbers, texts
from resources.upstreams.parsing.payload import ascending, ordered_ohlc

# Prices CNY (index: points), volume shares, amount CNY, percentages percent. `date` ISO text.
BAR_COLUMNS: dict[str, str] = {
    "code": "s",
    "date": "s",
    **numbers("open high low close volume amount"),
    **numbers("amplitude_pct change_pct change_amt turnover_pct"),
}
# `period` 1m, 5m ...; `datetime` 'YYYY-MM-DD HH:MM:SS', end of the bar.
MINUTE_COLUMNS: dict[str, str] = {
    **texts("code period datetime"),
    **numbers("open high low close volume amount"),
}

# A few rows of a long history contradict themselves upstream (the 1990s); that is for the quality
# checks. When more than this share does, the answer as a whole is in another unit.
_TOLERATED_SHARE = 0.1


def in_order(rows: Sequence[dict[str, Any]], by: str, label: str) -> list[dict[str, Any]]:
    """A series without the rows that repeat the one before them in full, which are noted. PayloadError when
    it goes back, or has two values of one time."""
    again = [at > 0 and row == rows[at - 1] for at, row in enumerate(rows)]
    repeated = [
        (str(row[by]), "repeats the row before") for row, same in zip(rows, again, strict=True) if same
    ]
    reject(repeated, len(rows), label)
    kept = [row for row, same in zip(rows, again, strict=True) if not same]
    ascending([str(row[by]) for row in kept], label)
    return kept


def check_bars(rows: Sequence[dict[str, Any]], what: Instrument, label: str) -> None:
    """Raises `PayloadError` for bars that cannot be: prices out of order, lots taken for shares."""
    contradictions = 0
    for row in rows:
        ordered_ohlc((row["open"], row["high"], row["low"], row["close"]), label)
        contradictions += _contradicts(row)
    if what.kind == "index":
        return  # the level of an index says nothing about the price of a share
    if contradictions > _TOLERATED_SHARE * len(rows):
        raise PayloadError(
            f"{label}: amount / volume contradicts the prices in {contradictions} of {len(rows)} rows"
        )


def _contradicts(row: dict[str, Any]) -> bool:
    volume, money = row["volume"], row.get("amount", math.nan)
    if not (volume > 0 and money > 0):
        return False
    return not row["low"] / 5 <= money / volume <= row["high"] * 5
