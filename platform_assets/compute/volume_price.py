"""Volume-price analysis of one code: four factors of what volume says about price, each 0 to 100 with 50
neutral. An observation with its evidence, not a recommendation."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.arrays import Floats
from platform_assets.compute import series
from platform_assets.compute.parameters import volume_price as ours

NEUTRAL = 50.0


@dataclass(frozen=True)
class Factor:
    """One factor at the newest bar. `score` is None where there are not enough bars; `value` is its headline
    figure, `values` is what it was made of."""

    key: str
    name: str
    score: float | None
    value: float | None
    values: dict[str, float | bool | None]
    text: str

    @property
    def state(self) -> str:
        return "unknown" if self.score is None else observed(self.score)


class Analysis(NamedTuple):
    factors: tuple[Factor, ...]
    health: float | None
    """mean of the scores that there are"""
    observation: str
    """bullish, neutral or bearish; neutral without any score"""


@dataclass(frozen=True)
class Prices:
    """Adjusted prices, volume and amount of one code, oldest first."""

    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    amount: Floats

    def __len__(self) -> int:
        return len(self.close)

    @property
    def balance(self) -> Floats:
        """On-balance volume from the first bar."""
        moves = np.sign(np.diff(self.close, prepend=self.close[:1]))
        return np.cumsum(moves * np.nan_to_num(self.volume))


def observed(score: float) -> str:
    """bullish, neutral or bearish."""
    if score >= ours.BULLISH:
        return "bullish"
    return "bearish" if score <= ours.BEARISH else "neutral"


def analyse(prices: Prices) -> Analysis:
    """Observations of price and volume on the newest bar against those before it."""
    factors = (sensitivity(prices), confirmation(prices), breakout(prices), divergence(prices))
    scores = [factor.score for factor in factors if factor.score is not None]
    health = float(np.mean(scores)) if scores else None
    return Analysis(factors, health, "neutral" if health is None else observed(health))


def sensitivity(prices: Prices) -> Factor:
    """Share of the amount of the last bars that was traded on rising ones, among those that moved. Volume
    where an amount is not known."""
    key, name, n = "sensitivity", "volume and amount sensitivity", ours.SPAN
    if len(prices) <= n:
        return _unknown(key, name, n + 1)
    amount = prices.amount[-n:]
    of_amount = bool(np.isfinite(amount).all())
    traded = amount if of_amount else np.nan_to_num(prices.volume[-n:])
    gain = np.diff(prices.close[-n - 1 :])
    risen, fallen = float(traded[gain > 0].sum()), float(traded[gain < 0].sum())
    share = 100 * risen / (risen + fallen) if risen + fallen > 0 else NEUTRAL
    what = "amount" if of_amount else "volume"
    text = f"of the {what} of {n} bars that moved the price, {share:.0f} % was traded on rising ones"
    return Factor(key, name, share, share, {"risen": risen, "fallen": fallen, "of_amount": of_amount}, text)


def confirmation(prices: Prices) -> Factor:
    """Whether on-balance volume goes along with the trend of the close."""
    key, name, n = "confirmation", "trend confirmation", ours.SPAN
    if len(prices) <= n:
        return _unknown(key, name, n + 1)
    close, balance = prices.close[-n:], prices.balance[-n:]
    slope = float(series.slope(close, n)[-1])
    moving = np.ptp(close) > 0 and np.ptp(balance) > 0
    together = float(np.corrcoef(close, balance)[0, 1]) if moving else 0.0
    score = NEUTRAL + NEUTRAL * float(np.sign(slope)) * max(0.0, together)
    way = "rising" if slope > 0 else "falling" if slope < 0 else "level"
    text = f"price is {way} over {n} bars; its correlation with on-balance volume is {together:.2f}"
    return Factor(key, name, score, together, {"slope": slope, "correlation": together}, text)


def breakout(prices: Prices) -> Factor:
    """Volume on the newest close beyond the range of the bars before, wearing off over five bars."""
    key, name, n = "breakout", "breakout volume", ours.SPAN
    if len(prices) <= n:
        return _unknown(key, name, n + 1)
    for age in range(min(ours.EVENT_BARS, len(prices) - n - 1) + 1):
        at = len(prices) - 1 - age
        before = slice(at - n, at)
        mean = float(prices.volume[before].mean())
        ratio = float(prices.volume[at]) / mean if mean > 0 else float("nan")
        up = bool(prices.close[at] > prices.high[before].max())
        if not (up or prices.close[at] < prices.low[before].min()) or np.isnan(ratio):
            continue
        side = 1 if up else -1
        strength = float(np.clip((ratio - ours.BREAKOUT_FLOOR * up) / ours.BREAKOUT_FULL, 0, 1))
        score = NEUTRAL + side * NEUTRAL * strength * (1 - age / ours.EVENT_BARS)
        has_volume = ratio >= (ours.UP_VOLUME if up else ours.DOWN_VOLUME)
        where = "above" if up else "below"
        text = f"{age} bars ago the close left the range of {n} bars {where}, on {ratio:.1f} times its volume"
        values = {"up": up, "age": float(age), "volume_ratio": ratio, "has_volume": bool(has_volume)}
        return Factor(key, name, score, ratio, dict(values), text)
    text = f"no close beyond the range of {n} bars in the last {ours.EVENT_BARS}"
    return Factor(key, name, NEUTRAL, None, {"up": None, "age": None, "volume_ratio": None}, text)


def divergence(prices: Prices) -> Factor:
    """Whether on-balance volume denies the newer of the last two swing highs or lows."""
    key, name, k = "divergence", "divergence of price and volume", ours.SWING_BARS
    if len(prices) < 4 * k + 2:
        return _unknown(key, name, 4 * k + 2)
    highs, lows = swings(prices.high, prices.low)
    at_highs = _denied(prices, prices.high, highs, 1)
    at_lows = _denied(prices, -prices.low, lows, -1)
    values = {"at_highs": at_highs is not None, "at_lows": at_lows is not None}
    if at_highs is not None and at_lows is None:
        change, side, which = at_highs, -1, "a higher high"
    elif at_lows is not None and at_highs is None:
        change, side, which = at_lows, 1, "a lower low"
    else:
        where = "at highs as well as lows" if at_highs is not None else "nowhere"
        return Factor(key, name, NEUTRAL, None, dict(values), f"price and volume diverge {where}")
    score = NEUTRAL + side * NEUTRAL * min(1.0, abs(change) / ours.DIVERGENCE_FULL)
    text = f"{which} ({100 * change:+.1f} %) that on-balance volume did not follow"
    return Factor(key, name, score, 100 * change, {**values, "price_change_pct": 100 * change}, text)


def swings(high: Floats, low: Floats) -> tuple[list[int], list[int]]:
    """Bars of the swing highs and of the swing lows that are known, oldest first: beyond the five bars
    before, not behind any of the five after. A bar that is both is neither."""
    k = ours.SWING_BARS
    is_high, is_low = (_is_swing(high, k), _is_swing(-low, k))
    both = is_high & is_low
    return np.nonzero(is_high & ~both)[0].tolist(), np.nonzero(is_low & ~both)[0].tolist()


def _is_swing(x: Floats, k: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    before, after = series.ref(series.hhv(x, k), 1), series.ref(series.hhv(x[::-1], k), 1)[::-1]
    return (x > before) & (x >= after)


def _denied(prices: Prices, extreme: Floats, bars: list[int], side: int) -> float | None:
    """Change of price between the last two swings as a fraction, when the newer one is further out, balance
    says the contrary, and it is not too long ago."""
    if len(bars) < 2 or len(prices) - 1 - (bars[-1] + ours.SWING_BARS) > ours.DIVERGENCE_BARS:
        return None
    first, second = bars[-2:]
    balance = prices.balance
    if not (extreme[second] > extreme[first] and side * (balance[second] - balance[first]) < 0):
        return None
    return float(extreme[second] / extreme[first] - 1)


def _unknown(key: str, name: str, needed: int) -> Factor:
    return Factor(key, name, None, None, {}, f"needs {needed} bars")
