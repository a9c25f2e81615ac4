"""`.day`: all daily bars of one security, unadjusted, oldest first.

32 bytes a record: date, open, high, low, close (integers), amount (float32, CNY), volume, reserved. The scale
of the prices and the unit of the volume are not in the file: both follow from the security, and amount /
volume, which is a mean price, must agree with them. What cannot be decided is refused.
"""

import math
from dataclasses import dataclass
from pathlib import PureWindowsPath

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.market import securities
from core.market.symbols import Instrument, instrument
from resources.upstreams.tdx_packages.arrays import Arrays, damaged, days_of, finite, must_ascend, records

RECORD = np.dtype(
    [("date", "<u4"), ("open", "<u4"), ("high", "<u4"), ("low", "<u4"), ("close", "<u4"),
     ("amount", "<f4"), ("volume", "<u4"), ("reserved", "<u4")]
)  # fmt: skip
PRICES = ("open", "high", "low", "close")
_LARGE, _LARGE_MASK = 0xC3640000, 0xFFFFFF00
"""`reserved` of a volume of 2**32 or more: it is volume * 100 + the lowest byte of `reserved`."""
_MEAN_PRICE, _SPREAD = 14.0, 20.0
"""CNY: mean price of a share inside an index, and how far the mean of a file may be from it."""
_FAR = 2.0
"""The mean price of a security lies within its day's prices; a wrong scale is out by 10."""
_FEW = 5
_FIRST_BOARD_DAY = {"star": 20_190_722, "gem": 20_091_030}
"""First sessions of boards that are younger than the exchanges."""
_FIRST_KIND_DAY = {"etf": 20_050_223, "lof": 20_041_220, "reit": 20_210_621}
_PAR_LOW, _PAR_HIGH = 50.0, 450.0
"""CNY: between them a convertible bond opens on its first day, for a face value of 100."""


@dataclass(frozen=True)
class Layout:
    """How the numbers of one file are read: `decimals` of the prices, shares in one unit of volume."""

    decimals: int
    shares: int


def symbol_of(name: str) -> str:
    """`sh600000` of `sh\\lday\\sh600000.day`. PayloadError when the name says none."""
    stem = PureWindowsPath(name.replace("/", "\\")).stem.lower()
    if len(stem) != 8 or stem[:2] not in ("sh", "sz", "bj") or not stem[2:].isdigit():
        raise damaged(f"{name!r} is not named like sh600000.day")
    return stem


def read_day(content: bytes, symbol: str) -> Arrays:
    """date, open, high, low, close, volume (shares), amount (CNY); of an index also the counts `up` and
    `down` of its members, 0 where they are not known. PayloadError for a file that is cut off, is not of this
    security, or whose scale cannot be decided."""
    return day_bars(records(content, RECORD, symbol), symbol)


def day_bars(raw: npt.NDArray[np.void], symbol: str) -> Arrays:
    """`read_day` of records that are read already."""
    what = instrument(symbol)
    days = days_of(raw["date"], symbol)
    must_ascend(days, symbol)
    _must_be_of(what, days)
    amount = np.round(finite(raw["amount"], symbol), 2)
    if (amount < 0).any():
        raise damaged(f"{symbol}, record {int(np.flatnonzero(amount < 0)[0]) + 1}: an amount below zero")
    volume = _volumes(raw)
    layout = _layout(what, raw, volume, amount)
    scale = 10.0**layout.decimals
    columns: Arrays = {"date": days, **{name: raw[name] / scale for name in PRICES}}
    columns["volume"] = volume * layout.shares
    columns["amount"] = amount
    if what.kind == securities.INDEX:
        columns["up"] = (raw["reserved"] & 0xFFFF).astype(np.int32)
        columns["down"] = (raw["reserved"] >> 16).astype(np.int32)
    return columns


def _volumes(raw: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    volume = raw["volume"].astype(np.int64)
    large = (raw["reserved"] & _LARGE_MASK) == _LARGE
    return np.where(large, volume * 100 + (raw["reserved"] & 0xFF), volume)


def _must_be_of(what: Instrument, days: npt.NDArray[np.int32]) -> None:
    """The first bar is not older than the board, or the kind, of the security."""
    board = securities.board_of(what.code, what.market)
    first = _FIRST_BOARD_DAY.get(board) or _FIRST_KIND_DAY.get(what.kind)
    if first and len(days) and int(days[0]) < first:
        raise damaged(f"{what.symbol}: a bar of {days[0]}, before the first session of {board or what.kind}")


def _layout(
    what: Instrument, raw: npt.NDArray[np.void], volume: npt.NDArray[np.int64], amount: Floats
) -> Layout:
    """The layout of the security's kind, confirmed by the mean prices of the file."""
    if what.kind == securities.INDEX:
        must_be_index(what.symbol, volume * 100, amount)
        return Layout(2, 100)
    if what.kind == securities.CB:
        return _of_bond(what.symbol, raw, volume, amount)
    if what.kind == securities.STOCK or what.kind in securities.FUNDS:
        layout = Layout(securities.decimals_of(what.kind, what.market), 1)
        scale = 10.0**layout.decimals
        must_fit_prices(what.symbol, raw["low"] / scale, raw["high"] / scale, volume, amount)
        return layout
    raise damaged(f"{what.symbol}: the scale of its prices cannot be decided ({what.kind})")


def must_fit_prices(
    symbol: str, low: Floats, high: Floats, volume: npt.NDArray[np.int64], amount: Floats
) -> None:
    """PayloadError when amount (CNY) / volume (shares) is not near the prices (CNY) of most bars."""
    ratio = _ratio(low, high, volume, amount)
    if not math.isnan(ratio) and not 1 / _FAR < ratio < _FAR:
        raise damaged(
            f"{symbol}: amount / volume is {ratio:.3g} times its prices: another scale, another unit of the "
            "volume, or the bars of another security"
        )


def _ratio(low: Floats, high: Floats, volume: npt.NDArray[np.int64], amount: Floats) -> float:
    """Median of amount / volume / the mean of high and low; NaN without traded bars."""
    traded = (volume > 0) & (amount > 0) & (low > 0)
    if not traded.any():
        return math.nan
    middle = (low[traded] + high[traded]) / 2
    return float(np.median(amount[traded] / volume[traded] / middle))


def must_be_index(symbol: str, shares: npt.NDArray[np.int64], amount: Floats) -> None:
    """PayloadError when amount (CNY) / volume (shares) is no mean price of the members of an index."""
    traded = (shares > 0) & (amount > 0)
    if np.count_nonzero(traded) < _FEW:
        return
    mean = float(np.median(amount[traded] / shares[traded]))
    if not _MEAN_PRICE / _SPREAD < mean < _MEAN_PRICE * _SPREAD:
        raise damaged(f"{symbol}: {mean:.3g} CNY a share are no mean price of an index's members")


def _of_bond(symbol: str, raw: npt.NDArray[np.void], volume: npt.NDArray[np.int64], amount: Floats) -> Layout:
    """Sources disagree about bonds: the first bar, near the face value of 100, decides the scale, and amount
    / volume whether bonds or lots of 10 are counted."""
    for decimals in (2, 3):
        scale = 10.0**decimals
        if not (len(raw) and _PAR_LOW < int(raw["open"][0]) / scale < _PAR_HIGH):
            continue
        for shares in (1, securities.lot_of_kind(securities.CB)):
            ratio = _ratio(raw["low"] / scale, raw["high"] / scale, volume * shares, amount)
            if 1 / _FAR < ratio < _FAR:
                return Layout(decimals, shares)
    raise damaged(f"{symbol}: neither its first price nor amount / volume decides the scale of its prices")
