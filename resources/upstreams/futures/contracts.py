"""One contract on one date: what the daily files of the six exchanges have in common.

Points, contracts (counted once) and 10k CNY. A contract without a trade has no open, high and low.
"""

import math
import re
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number, ordered_ohlc, price, required, whole

FUTURES_COLUMNS: dict[str, str] = {
    **texts("symbol date product exchange name"),
    **numbers("open high low close settle prev_settle volume_contracts open_interest oi_change amount_wan"),
}
_PRODUCT = re.compile(r"[A-Za-z]{1,3}")
_MONTH = re.compile(r"\d{2}(0[1-9]|1[0-2])")
_SMALLEST, _LARGEST = 0.8, 25_000.0
"""Units of a price that one contract may hold."""


def contract(fields: dict[str, Any], exchange: str, day: str) -> dict[str, Any]:
    """A row of `FUTURES_COLUMNS` of product, month (YYMM), label (Chinese name or None), and the texts or
    numbers open, high, low, close, settle, prev_settle, volume, open_interest, oi_change, amount (10k CNY).
    PayloadError for prices that do not enclose each other and turnover in another unit."""
    product, month = fields["product"], fields["month"]
    what = f"{exchange} {str(product)[:8]}{str(month)[:8]}"
    if not _PRODUCT.fullmatch(str(product)) or not _MONTH.fullmatch(str(month)):
        raise PayloadError(f"{what} is no contract")
    volume = whole(amount(plain(fields["volume"]), f"{what} volume"), f"{what} volume")
    held = whole(amount(plain(fields["open_interest"]), f"{what} open interest"), f"{what} open interest")
    prices = {
        name: _level(fields[name], f"{what} {name}")
        for name in ("open", "high", "low", "close", "settle", "prev_settle")
    }
    if volume:
        ordered_ohlc((prices["open"], prices["high"], prices["low"], prices["close"]), what)
        required(prices["settle"], f"{what} settle")
    else:
        prices |= dict.fromkeys(("open", "high", "low"), math.nan)
    turnover = amount(plain(fields["amount"]), f"{what} amount")
    _check_unit(turnover, volume, prices, what)
    label = fields.get("label")
    return {
        "symbol": f"{product}{month}",
        "date": day,
        "product": product,
        "exchange": exchange.upper(),
        "name": f"{label}{month}" if label else None,
        **prices,
        "volume_contracts": volume,
        "open_interest": held,
        "oi_change": number(plain(fields["oi_change"]), f"{what} change of open interest"),
        "amount_wan": turnover,
    }


def contracts(rows: list[dict[str, Any]], exchange: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`. PayloadError when a contract came twice."""
    made = frame(rows, FUTURES_COLUMNS)
    if made["symbol"].duplicated().any():
        raise PayloadError(f"{exchange}: a contract came twice")
    return made


def plain(value: Any) -> Any:
    """Without thousands commas and blanks."""
    return value.replace(",", "").strip() if isinstance(value, str) else value


def _level(value: Any, what: str) -> float:
    """A price; 0 says that there was none."""
    found = price(plain(value), what)
    return math.nan if found == 0 else found


def _check_unit(turnover: float, volume: int, prices: dict[str, float], what: str) -> None:
    """Turnover / volume / price is the size of a contract."""
    level = prices["settle"]
    if not volume or not turnover > 0 or not level > 0:
        return
    size = turnover * 1e4 / volume / level
    if not _SMALLEST <= size <= _LARGEST:
        raise PayloadError(f"{what}: a contract of {size:g} units: another unit")
