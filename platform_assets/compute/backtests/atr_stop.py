"""The trailing stop: enters at a new high in an uptrend, leaves when the close falls through a stop that only
rises. Sizes follow the risk of a trade."""

from collections.abc import Mapping

import numpy as np

from core.arrays import Floats
from core.errors import InputError
from platform_assets.compute import series
from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.engine import Holding
from platform_assets.compute.backtests.strategies import prices_of
from platform_assets.compute.parameters import backtests as p
from platform_assets.compute.parameters.backtests import STYLES, Style
from platform_assets.compute.studies import atr_wilder

_BY_KEY: Mapping[str, Style] = {style.key: style for style in STYLES}


def style_of(key: str) -> Style:
    """Raises InputError naming `profile` for a key that there is not."""
    found = _BY_KEY.get(key)
    if found is None:
        raise InputError("profile", f"{key[:40]!r} is no profile; one of {', '.join(_BY_KEY)}")
    return found


class TrailingStop:
    """A rule of the engine. Prices and ranges are adjusted; sizes are in shares of the day of the fill."""

    def __init__(self, days: Days, style: Style) -> None:
        prices = prices_of(days)
        with np.errstate(invalid="ignore"):
            high = series.ref(series.hhv(prices.high, style.breakout_bars), 1)
            trend = series.ma(prices.close, p.MOMENTUM_TREND)
            entry = (prices.close > high) & (prices.close > trend)
        atr = atr_wilder(prices, p.ATR_PERIOD)
        self.style = style
        self._factor = days.factor
        self._entry = days.spread(entry & (atr > 0), False)
        self._close = days.spread(prices.close, np.nan)
        self._room = days.spread(style.atr_multiple * atr, np.nan)

    def buys(self, at: int) -> bool:
        return bool(self._entry[at])

    def most(self, at: int, fill: int, equity: int) -> float:
        """The smaller of the two: shares whose fall by the stop's distance costs the risk of a trade, and
        shares that make up the largest position at the close of the signal."""
        funds = equity / 100
        scale = self._factor[fill]  # adjusted CNY to those of the day of the fill
        by_risk = funds * self.style.risk_pct / 100 / (self._room[at] / scale)
        by_size = funds * self.style.position_pct / 100 / (self._close[at] / scale)
        return float(min(by_risk, by_size))

    def hold(self, fill: int) -> Holding:
        return _Trailed(self._close, self._room)


class _Trailed:
    """stop = max(stop before, highest close since the purchase - m * ATR); a close below the stop of the bar
    before is the signal."""

    def __init__(self, close: Floats, room: Floats) -> None:
        self._close = close
        self._room = room
        self._highest = -np.inf
        self._stop = -np.inf

    def sells(self, at: int) -> str:
        broken = bool(self._close[at] < self._stop)
        self._highest = max(self._highest, float(self._close[at]))
        self._stop = max(self._stop, self._highest - float(self._room[at]))
        return "stop" if broken else ""
