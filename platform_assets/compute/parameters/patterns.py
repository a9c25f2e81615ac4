"""Thresholds of the chart patterns (`compute.patterns`). All are ours, tuned to no count of signals.

Fractions are of the reference price (0.03 = 3 %), lengths are traded bars. The kernels get these as
arguments, so that a changed value is in force without a new compilation.
"""

from typing import NamedTuple

MIN_BARS = 61
"""A code gives no direction before it has so many bars."""
TOLERANCE = 1e-9
"""Two prices on the tick may meet a threshold exactly; rounding must not decide then."""


class Pivots(NamedTuple):
    """Swing highs and lows, and the alternating list made of them."""

    lag: int = 5
    """bars on each side of a swing high or low; it is known so many bars later"""
    distance: float = 0.03
    """least distance of a pivot from the last one of the other side"""


class Volume(NamedTuple):
    """A break counts only with volume: against the mean of the bars before it."""

    bars: int = 20
    up: float = 1.5
    down: float = 1.0


class Reversal(NamedTuple):
    """Double, triple, head and shoulders; written for bottoms, mirrored for tops."""

    prior_bars: int = 60
    prior_move: float = 0.10
    """fall from the highest high of `prior_bars` before the first low"""
    double_apart: float = 0.03
    double_from: int = 10
    double_to: int = 60
    """bars between the two lows"""
    double_depth: float = 0.05
    double_age: int = 30
    """most bars from the second low to the break"""
    triple_apart: float = 0.04
    necks_apart: float = 0.05
    head_beyond: float = 0.03
    shoulders_apart: float = 0.05
    ratio_from: float = 0.4
    ratio_to: float = 2.5
    """bars left shoulder to head / bars head to right shoulder"""


class Cup(NamedTuple):
    """Cup with handle."""

    rims_apart: float = 0.05
    bars_from: int = 30
    bars_to: int = 150
    depth_from: float = 0.12
    depth_to: float = 0.35
    low_from: float = 0.2
    low_to: float = 0.8
    """where the low lies between the rims"""
    handle_from: int = 5
    handle_to: int = 25
    handle_hold: float = 0.5
    """share of the depth above which the handle stays"""


class Lines(NamedTuple):
    """Rectangle, triangle, wedge: a line through the last two highs and one through the last two lows."""

    rectangle_apart: float = 0.03
    rectangle_bars: int = 20
    rectangle_from: float = 0.04
    rectangle_to: float = 0.25
    narrowing: float = 0.75
    """width now / width at the first pivot, at most: triangles"""
    flat: float = 0.0005
    """slope a bar / close below which a line is flat"""


class Flag(NamedTuple):
    """Flag and pennant; written for bull flags, mirrored for bear flags."""

    pole_bars: int = 10
    pole_move: float = 0.15
    age_from: int = 5
    age_to: int = 15
    """bars from the end of the pole to the break"""
    retrace: float = 0.5
    quiet: float = 0.8
    """mean volume of the flag / of the pole, at most"""
    contraction: float = 0.6
    """height of the last third / of the first third, at most: pennant"""
    up: float = 1.5
    down: float = 1.0
    """volume of the break / mean of the flag, at least"""


class Island(NamedTuple):
    """Island reversal."""

    gap: float = 0.005
    bars: int = 15
    prior_bars: int = 20
    prior_move: float = 0.08


class Arc(NamedTuple):
    """Rounded bottom and top: a parabola through the closes of the last `short`, `middle` or `long` bars."""

    short: int = 40
    middle: int = 60
    long: int = 90
    fit: float = 0.80
    """least R2"""
    curvature: float = 0.04
    vertex: float = 0.4
    """largest distance of the vertex from the middle; the half width is 1"""
    rim_bars: int = 6
    quiet: float = 0.8
    """mean volume of the middle third / of the outer thirds, at most: bottoms"""


class Duck(NamedTuple):
    """Old duck's head: averages of `fast`, `middle` and `slow` bars."""

    fast: int = 5
    middle: int = 10
    slow: int = 60
    neck_from: int = 10
    neck_to: int = 60
    head_rise: float = 0.15
    """head top above the slow average at the start of the neck"""
    pullback: float = 0.05
    head_to: int = 40
    beak_to: int = 60
    quiet: float = 0.8
    """mean volume of the pullback / of the neck leg, at most"""
    rising_bars: int = 5


class Thresholds(NamedTuple):
    """Everything that the kernels are given."""

    min_bars: int = MIN_BARS
    tolerance: float = TOLERANCE
    pivots: Pivots = Pivots()
    volume: Volume = Volume()
    reversal: Reversal = Reversal()
    cup: Cup = Cup()
    lines: Lines = Lines()
    flag: Flag = Flag()
    island: Island = Island()
    arc: Arc = Arc()
    duck: Duck = Duck()


THRESHOLDS = Thresholds()

UP, DOWN = 100, -100

DIRECTIONS = (
    "duck_buy", "duck_sell", "arc_bottom", "arc_top", "cup_handle", "double_top", "double_bottom",
    "triple_top", "triple_bottom", "head_shoulders_top", "head_shoulders_bottom", "rectangle", "triangle",
    "wedge", "flag", "island",
)  # fmt: skip
METRICS = (
    "duck_stage", "duck_neck_days", "duck_pullback_pct", "duck_vol_shrink_pct", "duck_breakout_pct",
    "rectangle_height_pct", "triangle_kind", "wedge_kind", "flag_kind",
)  # fmt: skip

KIND_NAMES: dict[str, dict[int, str]] = {
    "triangle_kind": {1: "ascending", 2: "descending", 3: "symmetric"},
    "wedge_kind": {1: "rising", 2: "falling"},
    "flag_kind": {1: "bull_flag", 2: "bull_pennant", -1: "bear_flag", -2: "bear_pennant"},
}
"""Column -> number in the kernels -> text in the table, the DSL and the answers."""
