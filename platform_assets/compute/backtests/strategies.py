"""Nine classic strategies, long or flat: which bars give a buy, which a sell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from core.arrays import Bools
from core.errors import InputError
from platform_assets.compute import series
from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.engine import Holding
from platform_assets.compute.parameters import backtests as p
from platform_assets.compute.studies import Prices, bollinger, kdj, macd, rsi

FAST, SLOW = "fast_period", "slow_period"


@dataclass(frozen=True)
class Signals:
    """Masks [..., bars]. `sell_if_touched` counts only when `touched` held on a bar since the purchase."""

    buy: Bools
    sell: Bools
    touched: Bools | None = None
    sell_if_touched: Bools | None = None


@dataclass(frozen=True)
class Period:
    """One of a strategy's periods, in bars."""

    name: str
    default: int
    least: int = 1
    most: int = p.LONGEST_PERIOD

    def moved(self, value: int, factor: float) -> int:
        """`value` times `factor`, at least one bar away, within what is allowed."""
        scaled = round(value * factor)
        scaled = min(scaled, value - 1) if factor < 1 else max(scaled, value + 1)
        return min(max(scaled, self.least), self.most)


@dataclass(frozen=True)
class Strategy:
    """`kind` is trend, reversal or breakout. `buy_text` describes a buy, with the periods in it."""

    key: str
    name: str
    kind: str
    description: str
    buy_text: str
    periods: tuple[Period, ...]
    signals: Callable[..., Signals]
    is_ordered: bool = False
    """the first period has to be the shorter one"""

    def chosen(self, fast: int | None = None, slow: int | None = None) -> tuple[int, ...]:
        """The periods, with what a caller overrides. Raises InputError naming the parameter."""
        asked = {FAST: fast, SLOW: slow}
        names = [period.name for period in self.periods]
        for name, value in asked.items():
            if value is not None and name not in names:
                raise InputError(name, f"{self.key} has no such period; it takes {', '.join(names)}")
        values = []
        for period in self.periods:
            value = asked[period.name]
            value = period.default if value is None else value
            if not period.least <= value <= period.most:
                raise InputError(period.name, f"{value}; allowed: {period.least}..{period.most}")
            values.append(value)
        if self.is_ordered and values[0] >= values[1]:
            wrong = FAST if fast is not None else SLOW
            raise InputError(wrong, f"{FAST} {values[0]} is not below {SLOW} {values[1]}")
        return tuple(values)

    def run(self, prices: Prices, periods: tuple[int, ...]) -> Signals:
        with np.errstate(invalid="ignore"):
            return self.signals(prices, *periods)

    def params(self, periods: tuple[int, ...]) -> dict[str, int]:
        return {period.name: value for period, value in zip(self.periods, periods, strict=True)}

    def reason(self, periods: tuple[int, ...]) -> str:
        return self.buy_text.format(*periods)

    def neighbours(self, periods: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The periods a fifth shorter, and a fifth longer."""
        found = []
        for factor in p.NEIGHBOURS:
            pairs = zip(self.periods, periods, strict=True)
            moved = tuple(period.moved(value, factor) for period, value in pairs)
            if moved != periods and not (self.is_ordered and moved[0] >= moved[1]):
                found.append(moved)
        return found


# -- the nine ---------------------------------------------------------------------------------------


def _ma_cross(prices: Prices, fast: int, slow: int) -> Signals:
    short, long = series.ma(prices.close, fast), series.ma(prices.close, slow)
    return Signals(series.cross(short, long), series.cross(long, short))


def _macd_cross(prices: Prices, fast: int, slow: int) -> Signals:
    dif, dea = macd(prices.close, fast, slow)
    return Signals(series.cross(dif, dea), series.cross(dea, dif))


def _kdj_cross(prices: Prices, n: int) -> Signals:
    k, d = kdj(prices.high, prices.low, prices.close, n)
    return Signals(series.cross(k, d) & (d < p.KDJ_LOW), series.cross(d, k) & (d > p.KDJ_HIGH))


def _rsi_reversal(prices: Prices, n: int) -> Signals:
    value = rsi(prices.close, n)
    return Signals(series.cross(value, p.RSI_LOW), series.cross(p.RSI_HIGH, value))


def _boll_breakout(prices: Prices, n: int) -> Signals:
    upper, middle, _ = bollinger(prices.close, n)
    return Signals(series.cross(prices.close, upper), series.cross(middle, prices.close))


def _boll_reversion(prices: Prices, n: int) -> Signals:
    upper, middle, lower = bollinger(prices.close, n)
    return Signals(
        buy=series.cross(prices.close, lower),
        sell=prices.close >= upper,
        touched=prices.high >= upper,
        sell_if_touched=series.cross(middle, prices.close),
    )


def _turtle(prices: Prices, n: int, exit_n: int) -> Signals:
    high = series.ref(series.hhv(prices.high, n), 1)
    low = series.ref(series.llv(prices.low, exit_n), 1)
    return Signals(prices.close > high, prices.close < low)


def _momentum(prices: Prices, n: int) -> Signals:
    change = prices.close / series.ref(prices.close, n) - 1
    is_rising = change > series.ref(change, 1)
    trend = prices.close > series.ma(prices.close, p.MOMENTUM_TREND)
    return Signals((change > 0) & trend & is_rising, change < 0)


def _volume_breakout(prices: Prices, n: int) -> Signals:
    high = series.ref(series.hhv(prices.close, n), 1)
    mean = series.ref(series.ma(prices.volume, n), 1)
    buy = (prices.close > high) & (prices.volume >= p.BREAKOUT_VOLUME * mean) & (mean > 0)
    return Signals(buy, prices.close < series.ma(prices.close, p.BREAKOUT_EXIT))


STRATEGIES: Mapping[str, Strategy] = {
    one.key: one
    for one in (
        Strategy(
            "ma_cross", "均线金叉", "trend",
            "buys when the short average of the close crosses above the long one, sells when it falls below",
            "MA{0} crossed above MA{1}", (Period(FAST, 5), Period(SLOW, 20, 2)), _ma_cross, is_ordered=True,
        ),
        Strategy(
            "macd_cross", "MACD金叉", "trend",
            "buys when DIF crosses above DEA, sells when it crosses below",
            "DIF crossed above DEA of MACD({0},{1},9)", (Period(FAST, 12), Period(SLOW, 26, 2)), _macd_cross,
            is_ordered=True,
        ),
        Strategy(
            "kdj_cross", "KDJ低位金叉", "reversal",
            "buys when K crosses above D below 30, sells when it crosses below D above 70",
            "K crossed above D below 30, KDJ({0},3,3)", (Period(FAST, 9, 2),), _kdj_cross,
        ),
        Strategy(
            "rsi_reversal", "RSI超卖反转", "reversal",
            "buys when RSI crosses above 30, sells when it crosses below 70",
            "RSI{0} crossed above 30", (Period(FAST, 14, 2),), _rsi_reversal,
        ),
        Strategy(
            "boll_breakout", "布林突破", "breakout",
            "buys when the close crosses above the upper band, sells when it crosses below the middle",
            "close crossed above the upper band of BOLL({0},2)", (Period(FAST, 20, 2),), _boll_breakout,
        ),
        Strategy(
            "boll_reversion", "布林回归", "reversal",
            "buys when the close crosses above the lower band; sells at a close on the upper band, or when "
            "it crosses below the middle after the upper band was touched",
            "close crossed above the lower band of BOLL({0},2)", (Period(FAST, 20, 2),), _boll_reversion,
        ),
        Strategy(
            "turtle", "海龟突破", "breakout",
            "buys at a close above the highest high of the bars before, sells at one below their lowest low",
            "close above the highest high of {0} bars", (Period(FAST, 20), Period(SLOW, 10)), _turtle,
        ),
        Strategy(
            "momentum", "动量", "trend",
            "buys while the rate of change is positive and rising and the close above MA60, sells when the "
            "rate of change is negative",
            "ROC{0} positive and rising, close above MA60", (Period(FAST, 20),), _momentum,
        ),
        Strategy(
            "volume_breakout", "放量突破", "breakout",
            "buys at a close above the highest close of the bars before with 1.5 times their mean volume, "
            "sells at a close below MA10",
            "close above the highest close of {0} bars with 1.5 times their volume", (Period(FAST, 20),),
            _volume_breakout,
        ),
    )
}  # fmt: skip
"""In the order in which they are listed."""


def strategy_of(key: str, parameter: str = "strategy") -> Strategy:
    """Raises InputError naming `parameter` for a key that there is not."""
    found = STRATEGIES.get(key)
    if found is None:
        raise InputError(parameter, f"{key[:40]!r} is no strategy; one of {', '.join(STRATEGIES)}")
    return found


# -- as a rule of the engine ------------------------------------------------------------------------


def prices_of(days: Days) -> Prices:
    """Adjusted prices of the days with a bar."""
    opened, high, low, close = (days.adjusted(name) for name in ("open", "high", "low", "close"))
    return Prices(opened, high, low, close, days.volume[days.bars])


class SignalRule:
    """Buys with all the cash, sells everything."""

    def __init__(self, days: Days, signals: Signals) -> None:
        never = np.zeros(len(days.bars), dtype=bool)
        masks = (signals.buy, signals.sell, signals.touched, signals.sell_if_touched)
        self._buy, *self._sales = (
            days.spread(never if mask is None else mask, False).tolist() for mask in masks
        )

    def buys(self, at: int) -> bool:
        return bool(self._buy[at])

    def most(self, at: int, fill: int, equity: int) -> float:
        return inf

    def hold(self, fill: int) -> Holding:
        return _Held(*self._sales)


class _Held:
    def __init__(self, sell: list[bool], touched: list[bool], if_touched: list[bool]) -> None:
        self._sell = sell
        self._touched = touched
        self._if_touched = if_touched
        self._was_touched = False

    def sells(self, at: int) -> str:
        self._was_touched = self._was_touched or self._touched[at]
        late = self._was_touched and self._if_touched[at]
        return "signal" if self._sell[at] or late else ""
