"""The definitions written again in plain Python, day by day: slow, from the bars up to a day alone, and with
tops and bottoms spelled out where the kernels negate prices."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.parameters.patterns import THRESHOLDS as T

EPS = 1e-9


@dataclass(frozen=True)
class Pivot:
    bar: int
    side: int
    price: float


class Series:
    """One code."""

    def __init__(self, bars: Bars, code: str) -> None:
        rows = bars.rows_of(code)
        self.high, self.low, self.close = (bars.adjusted(name)[rows] for name in ("high", "low", "close"))
        self.volume = bars.volume[rows]
        self.swings = [one for p in range(len(self.close)) if (one := self._swing(p))]

    def _swing(self, p: int) -> Pivot | None:
        lag = T.pivots.lag
        before, after = slice(p - lag, p), slice(p + 1, p + lag + 1)
        if p < lag or p + lag >= len(self.close):
            return None
        high = self.high[p] > self.high[before].max() and self.high[p] >= self.high[after].max()
        low = self.low[p] < self.low[before].min() and self.low[p] <= self.low[after].min()
        if high == low:
            return None
        return Pivot(p, 1, self.high[p]) if high else Pivot(p, -1, self.low[p])

    def pivots(self, t: int) -> list[Pivot]:
        """The alternating list as it is known on day t."""
        kept: list[Pivot] = []
        for one in self.swings:
            if one.bar + T.pivots.lag > t:
                break
            if kept and kept[-1].side == one.side:
                if one.side * (one.price - kept[-1].price) > 0:
                    kept[-1] = one
            elif not kept or one.side * (one.price / kept[-1].price - 1) >= T.pivots.distance - EPS:
                kept.append(one)
        return kept

    def has_volume(self, t: int, up: bool) -> bool:
        least = T.volume.up if up else T.volume.down
        mean = self.volume[t - T.volume.bars : t].mean()
        return bool(mean > 0 and self.volume[t] >= least * mean)

    def neck(self, t: int, up: bool) -> list[Pivot] | None:
        """The list up to the neck whose first break is day t."""
        known = self.pivots(t)
        while known and known[-1].side != (1 if up else -1):
            known.pop()
        if not known:
            return None
        line, since = known[-1].price, self.close[known[-1].bar + 1 : t + 1]
        beyond = since > line if up else since < line
        return known if beyond[-1] and not beyond[:-1].any() else None


def _ratio(*prices: float) -> float:
    return max(prices) / min(prices) - 1


def bottom(s: Series, t: int) -> str | None:
    """The bottom that day t breaks with volume."""
    known, p = s.neck(t, up=True), T.reversal
    if known is None or len(known) < 2 or not s.has_volume(t, up=True):
        return None
    neck, low = known[-1], known[-2]
    last = neck.bar + 1 + int(np.argmin(s.low[neck.bar + 1 : t]))
    price = s.low[last]
    if len(known) >= 4:
        first, before = known[-4], known[-3]
        necks = _ratio(neck.price, before.price) <= p.necks_apart + EPS
        time = (low.bar - first.bar) / (last - low.bar)
        deep = min(first.price, price) - low.price
        if (
            necks
            and low.price <= first.price * (1 - p.head_beyond) + EPS
            and low.price <= price * (1 - p.head_beyond) + EPS
            and _ratio(first.price, price) <= p.shoulders_apart + EPS
            and p.ratio_from <= time <= p.ratio_to
            and deep > 0
        ):
            return "head_shoulders_bottom"
        if necks and _ratio(first.price, low.price, price) <= p.triple_apart + EPS and _fell(s, first):
            return "triple_bottom"
    if (
        abs(price - low.price) <= p.double_apart * low.price + EPS
        and p.double_from <= last - low.bar <= p.double_to
        and 1 - min(low.price, price) / neck.price >= p.double_depth - EPS
        and t - last <= p.double_age
        and _fell(s, low)
    ):
        return "double_bottom"
    return None


def _fell(s: Series, low: Pivot) -> bool:
    before = s.high[max(0, low.bar - T.reversal.prior_bars) : low.bar]
    return bool(len(before) and low.price <= (1 - T.reversal.prior_move) * before.max() + EPS)


def top(s: Series, t: int) -> str | None:
    """The top that day t breaks with volume."""
    known, p = s.neck(t, up=False), T.reversal
    if known is None or len(known) < 2 or not s.has_volume(t, up=False):
        return None
    neck, high = known[-1], known[-2]
    last = neck.bar + 1 + int(np.argmax(s.high[neck.bar + 1 : t]))
    price = s.high[last]
    if len(known) >= 4:
        first, before = known[-4], known[-3]
        necks = _ratio(neck.price, before.price) <= p.necks_apart + EPS
        time = (high.bar - first.bar) / (last - high.bar)
        if (
            necks
            and high.price >= first.price * (1 + p.head_beyond) - EPS
            and high.price >= price * (1 + p.head_beyond) - EPS
            and _ratio(first.price, price) <= p.shoulders_apart + EPS
            and p.ratio_from <= time <= p.ratio_to
        ):
            return "head_shoulders_top"
        if necks and _ratio(first.price, high.price, price) <= p.triple_apart + EPS and _rose(s, first):
            return "triple_top"
    if (
        abs(price - high.price) <= p.double_apart * high.price + EPS
        and p.double_from <= last - high.bar <= p.double_to
        and max(high.price, price) / neck.price - 1 >= p.double_depth - EPS
        and t - last <= p.double_age
        and _rose(s, high)
    ):
        return "double_top"
    return None


def _rose(s: Series, high: Pivot) -> bool:
    before = s.low[max(0, high.bar - T.reversal.prior_bars) : high.bar]
    return bool(len(before) and high.price >= (1 + T.reversal.prior_move) * before.min() - EPS)


def cup(s: Series, t: int) -> bool:
    """Whether day t breaks a cup with handle with volume."""
    known, p = s.neck(t, up=True), T.cup
    if known is None or len(known) < 3 or not s.has_volume(t, up=True):
        return False
    right, left = known[-1], known[-3]
    handle = s.low[right.bar + 1 : t].min()
    span = right.bar - left.bar
    at = left.bar + 1 + int(np.argmin(s.low[left.bar + 1 : right.bar]))
    depth = left.price - s.low[at]
    return bool(
        _ratio(left.price, right.price) <= p.rims_apart + EPS
        and p.bars_from <= span <= p.bars_to
        and p.depth_from - EPS <= depth / left.price <= p.depth_to + EPS
        and p.low_from <= (at - left.bar) / span <= p.low_to
        and p.handle_from <= t - right.bar <= p.handle_to
        and handle >= s.low[at] + p.handle_hold * depth - EPS
    )


def lined(s: Series, t: int) -> dict[str, float]:
    """Values of rectangle, triangle and wedge, their kinds and height on day t; only those that are there."""
    known, p = s.pivots(t)[-4:], T.lines
    if len(known) < 4:
        return {}
    highs = [one for one in known if one.side > 0]
    lows = [one for one in known if one.side < 0]

    def line(pair: list[Pivot], at: int) -> float:
        slope = (pair[1].price - pair[0].price) / (pair[1].bar - pair[0].bar)
        return pair[1].price + slope * (at - pair[1].bar)

    def leaves(at: int) -> int:
        if s.close[at] > line(highs, at) * (1 + EPS):
            return 1
        return -1 if s.close[at] < line(lows, at) * (1 - EPS) else 0

    days = range(known[-1].bar + 1, t)
    now, then = (line(highs, at) - line(lows, at) for at in (t, known[0].bar))
    if now <= 0 or any(leaves(at) or line(highs, at) <= line(lows, at) for at in days):
        return {}
    side = leaves(t)
    direction = 100.0 * side if side and s.has_volume(t, up=side > 0) else 0.0
    found: dict[str, float] = {}
    height = sum(one.price for one in highs) / sum(one.price for one in lows) - 1
    apart = max(_ratio(*(one.price for one in pair)) for pair in (highs, lows))
    is_high = p.rectangle_from - EPS <= height <= p.rectangle_to + EPS
    if is_high and t - known[0].bar >= p.rectangle_bars and apart <= p.rectangle_apart + EPS:
        found |= {"rectangle": direction, "rectangle_height_pct": height * 100}
    up, low = ((line(pair, t) - line(pair, t - 1)) / s.close[t] for pair in (highs, lows))
    words = [0 if abs(one) < p.flat else 1 if one > 0 else -1 for one in (up, low)]
    kind = {(0, 1): 1, (-1, 0): 2, (-1, 1): 3}.get((words[0], words[1]))
    if kind and now <= p.narrowing * then:
        found |= {"triangle": direction, "triangle_kind": kind}
    wedge = {(1, 1): 1, (-1, -1): 2}.get((words[0], words[1]))
    if wedge and now < then:
        requested = -1 if wedge == 1 else 1
        found |= {"wedge": direction if side == requested else 0.0, "wedge_kind": wedge}
    return found


def island(s: Series, t: int) -> float:
    """100 for an island bottom that day t leaves behind, -100 for a top."""
    p = T.island
    for bars in range(1, p.bars + 1):
        first = t - bars
        isle = slice(first, t)
        before, past = first - 1, first - 1 - p.prior_bars
        move = s.close[before] / s.close[past] - 1
        if (
            s.low[first] / s.high[before] - 1 >= p.gap - EPS
            and 1 - s.high[t] / s.low[t - 1] >= p.gap - EPS
            and s.low[isle].min() > max(s.high[before], s.high[t])
            and move >= p.prior_move - EPS
        ):
            return -100.0
        if (
            1 - s.high[first] / s.low[before] >= p.gap - EPS
            and s.low[t] / s.high[t - 1] - 1 >= p.gap - EPS
            and s.high[isle].max() < min(s.low[before], s.low[t])
            and move <= -p.prior_move + EPS
        ):
            return 100.0
    return 0.0


def days(s: Series, t: int) -> dict[str, float]:
    """Everything of the above on day t; what is not there is left out."""
    found = {name: value for name, value in lined(s, t).items() if value}
    for name in (bottom(s, t), top(s, t)):
        if name:
            found[name] = 100.0 if name.endswith("bottom") else -100.0
    if cup(s, t):
        found["cup_handle"] = 100.0
    if value := island(s, t):
        found["island"] = value
    return found


COLUMNS = (
    "double_bottom", "double_top", "triple_bottom", "triple_top", "head_shoulders_bottom",
    "head_shoulders_top", "cup_handle", "rectangle", "rectangle_height_pct", "triangle", "triangle_kind",
    "wedge", "wedge_kind", "island",
)  # fmt: skip


def reported(values: dict[str, Floats], row: int) -> dict[str, float]:
    """The same of the kernels' columns."""
    return {name: float(values[name][row]) for name in COLUMNS if values[name][row] not in (0.0,)
            and not np.isnan(values[name][row])}  # fmt: skip
