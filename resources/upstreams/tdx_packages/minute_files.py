"""Minute bars of an installation: `.lc1` and `.lc5` (prices as float32), `.01` and `.5` (as integers).

32 bytes a record: day, minutes since midnight (the end of the bar), open, high, low, close, amount (float32,
CNY), volume (shares, lots of an index), reserved.
"""

from typing import Any

import numpy as np

from core.market import securities
from core.market.symbols import instrument
from resources.upstreams.tdx_packages.arrays import Arrays, damaged, finite, must_ascend, packed_days, records
from resources.upstreams.tdx_packages.day_files import PRICES, must_be_index, must_fit_prices

MINUTES = {".lc1": 1, ".01": 1, ".lc5": 5, ".5": 5}
"""How a file's name ends -> length of its bars."""
_FLOATS = frozenset({".lc1", ".lc5"})
_OPEN, _CLOSE = 9 * 60 + 30, 15 * 60 + 30
"""Minutes of the day: bars end after the first and, after hours included, at the second at the latest."""


def _layout(price: str) -> "np.dtype[Any]":
    return np.dtype(
        [("day", "<u2"), ("minute", "<u2"), *((name, price) for name in PRICES),
         ("amount", "<f4"), ("volume", "<u4"), ("reserved", "<u4")]
    )  # fmt: skip


def read_minutes(content: bytes, symbol: str, ending: str) -> Arrays:
    """date, minute (of the day, end of the bar), open, high, low, close, volume (shares), amount (CNY),
    oldest first. PayloadError for a file that is cut off, is not of this security, or whose scale is not
    known."""
    what = instrument(symbol)
    if what.kind not in {securities.STOCK, securities.INDEX} | securities.FUNDS:
        raise damaged(f"{symbol}: the scale of its prices cannot be decided ({what.kind})")
    raw = records(content, _layout("<f4" if ending in _FLOATS else "<u4"), symbol)
    minute = raw["minute"].astype(np.int32)
    wrong = np.flatnonzero((minute < _OPEN) | (minute > _CLOSE))
    if len(wrong):
        at = int(wrong[0])
        raise damaged(f"{symbol}, record {at + 1}: minute {minute[at]} is outside of the session")
    days = packed_days(raw["day"], symbol)
    must_ascend(days.astype(np.int64) * 10_000 + minute, symbol)
    places = securities.decimals_of(what.kind, what.market)
    columns: Arrays = {"date": days, "minute": minute}
    for name in PRICES:
        # 36.71 as float32 is 36.7099991: seven digits are what it holds.
        values = finite(raw[name], symbol)
        columns[name] = np.round(values, places) if ending in _FLOATS else values / 10.0**places
    volume, amount = raw["volume"].astype(np.int64), np.round(finite(raw["amount"], symbol), 2)
    if what.kind == securities.INDEX:
        volume = volume * 100
        must_be_index(symbol, volume, amount)
    else:
        must_fit_prices(symbol, columns["low"], columns["high"], volume, amount)
    return {**columns, "volume": volume, "amount": amount}
