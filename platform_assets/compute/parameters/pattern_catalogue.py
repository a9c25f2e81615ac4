"""Descriptions of the pattern columns, with the thresholds that are in force."""

from dataclasses import dataclass
from typing import NamedTuple

from platform_assets.compute.parameters.patterns import DOWN, KIND_NAMES, THRESHOLDS, UP

_T = THRESHOLDS


@dataclass(frozen=True)
class Direction:
    """A column that is 100 or -100 on the first day of a break, else 0."""

    key: str
    label: str
    """as the market calls it"""
    signs: tuple[int, ...]
    description: str
    formula: str
    parameters: dict[str, float]


@dataclass(frozen=True)
class Metric:
    """A column to filter by, never a signal."""

    key: str
    label: str
    unit: str
    """`days`, `pct`, or "" for a stage or a kind"""
    description: str
    values: dict[str, str]
    """of a stage or a kind: what each value means"""


def _percent(fraction: float) -> str:
    return f"{fraction * 100:g} %"


def _all(*groups: NamedTuple) -> dict[str, float]:
    """The thresholds of some groups by name; where two have one name, with the group's before it."""
    names = [name for group in groups for name in group._fields]
    found: dict[str, float] = {}
    for group in groups:
        for name, value in group._asdict().items():
            prefix = f"{type(group).__name__.lower()}_" if names.count(name) > 1 else ""
            found[prefix + name] = value
    return found


_R, _L, _F, _I, _A, _C, _D, _V = (
    _T.reversal, _T.lines, _T.flag, _T.island, _T.arc, _T.cup, _T.duck, _T.volume,
)  # fmt: skip
_RISE = f"C > {{line}} for the first time, V >= {_V.up:g} x mean V of the {_V.bars} bars before"
_FALL = f"C < {{line}} for the first time, V >= {_V.down:g} x mean V of the {_V.bars} bars before"
_REVERSALS = _all(_R, _T.pivots, _V)
_LINES = _all(_L, _T.pivots, _V)


def _reversal(key: str, label: str, description: str, formula: str) -> Direction:
    is_top = key.endswith("_top")
    line = (_FALL if is_top else _RISE).format(line="the last neck pivot")
    return Direction(key, label, (DOWN if is_top else UP,), description, f"{formula}; {line}", _REVERSALS)


_FELL = f"first low <= {_percent(1 - _R.prior_move)} of the highest high of {_R.prior_bars} bars before it"
_ROSE = f"first high >= {_percent(1 + _R.prior_move)} of the lowest low of {_R.prior_bars} bars before it"
_DOUBLE = (
    f"within {_percent(_R.double_apart)}, {_R.double_from} to {_R.double_to} bars apart, the neck at least "
    f"{_percent(_R.double_depth)} away, the second at most {_R.double_age} bars ago"
)
_TRIPLE = f"max/min <= {1 + _R.triple_apart:g}, necks within {_percent(_R.necks_apart)}"
_HEAD = (
    f"beyond both shoulders by {_percent(_R.head_beyond)}, shoulders within {_percent(_R.shoulders_apart)}, "
    f"necks within {_percent(_R.necks_apart)}, bars on the left / on the right {_R.ratio_from:g} to "
    f"{_R.ratio_to:g}"
)
_ARC = f"parabola through C/C[first] of the {_A.short}, {_A.middle} or {_A.long} bars before:"
_TWO_LINES = (
    "lines through the last two swing highs and the last two swing lows; C leaves them for the first "
)
_LEAVES = f"{_TWO_LINES}time with volume (x {_V.up:g} up, x {_V.down:g} down)"

DIRECTION_CATALOGUE: tuple[Direction, ...] = (
    Direction("duck_buy", "老鸭头买点", (UP,),
        "close above the head top of an old duck's head whose pullback was quiet",
        f"stage 3; C > head top for the first time, V >= {_V.up:g} x mean V of the {_V.bars} bars before, "
        f"MA{_D.slow} above its value {_D.rising_bars} bars ago", _all(_D, _V)),
    Direction("duck_sell", "老鸭头卖点", (DOWN,),
        "an old duck's head fails: the close falls below the slow average",
        f"stage 2 or 3; C < MA{_D.slow} or MA{_D.middle} <= MA{_D.slow} for the first time, "
        f"V >= {_V.down:g} x mean V of the {_V.bars} bars before", _all(_D, _V)),
    Direction("arc_bottom", "圆弧底", (UP,), "close above the left rim of a rounded bottom",
        f"{_ARC} R2 >= {_A.fit:g}, a >= {_A.curvature:g}, vertex within {_A.vertex:g} of the middle, "
        f"mean V of the middle third <= {_A.quiet:g} x outer thirds; "
        + _RISE.format(line=f"the highest of the first {_A.rim_bars} closes"), _all(_A, _V)),
    Direction("arc_top", "圆弧顶", (DOWN,), "close below the left rim of a rounded top",
        f"{_ARC} R2 >= {_A.fit:g}, a <= -{_A.curvature:g}, vertex within {_A.vertex:g} of the middle; "
        + _FALL.format(line=f"the lowest of the first {_A.rim_bars} closes"), _all(_A, _V)),
    Direction("cup_handle", "杯柄形态", (UP,), "close above the right rim of a cup with handle",
        f"two swing highs within {_percent(_C.rims_apart)}, {_C.bars_from} to {_C.bars_to} bars apart; depth "
        f"{_percent(_C.depth_from)} to {_percent(_C.depth_to)} of the left rim, low at {_C.low_from:g} to "
        f"{_C.low_to:g} of the span; handle of {_C.handle_from} to {_C.handle_to} bars above "
        f"{_percent(_C.handle_hold)} of the depth; " + _RISE.format(line="the right rim"),
        _all(_C, _T.pivots, _V)),
    _reversal("double_top", "双顶", "close below the low between two equal highs",
        f"two highs {_DOUBLE}; {_ROSE}"),
    _reversal("double_bottom", "双底", "close above the high between two equal lows",
        f"two lows {_DOUBLE}; {_FELL}"),
    _reversal("triple_top", "三重顶", "close below the last low between three equal highs",
        f"three highs {_TRIPLE}; {_ROSE}"),
    _reversal("triple_bottom", "三重底", "close above the last high between three equal lows",
        f"three lows {_TRIPLE}; {_FELL}"),
    _reversal("head_shoulders_top", "头肩顶", "close below the last low of head and shoulders",
        f"three highs, the middle one {_HEAD}"),
    _reversal("head_shoulders_bottom", "头肩底", "close above the last high of inverse head and shoulders",
        f"three lows, the middle one {_HEAD}"),
    Direction("rectangle", "矩形整理", (UP, DOWN), "close leaves a sideways range; the sign is the side",
        f"highs within {_percent(_L.rectangle_apart)}, lows within {_percent(_L.rectangle_apart)}, at least "
        f"{_L.rectangle_bars} bars, height {_percent(_L.rectangle_from)} to {_percent(_L.rectangle_to)}; "
        f"{_LEAVES}", _LINES),
    Direction("triangle", "三角形", (UP, DOWN), "close leaves a triangle; the sign is the side",
        f"width now <= {_L.narrowing:g} x width at the first pivot; a line is flat below "
        f"{_percent(_L.flat)} of C a bar; {_LEAVES}", _LINES),
    Direction("wedge", "楔形", (UP, DOWN),
        "close leaves a rising wedge downwards (-100), or a falling one upwards (100)",
        f"both lines rise, or both fall, by at least {_percent(_L.flat)} of C a bar, and converge; {_LEAVES}",
        _LINES),
    Direction("flag", "旗形", (UP, DOWN), "close leaves a flag or pennant in the direction of its pole",
        f"pole of {_percent(_F.pole_move)} within {_F.pole_bars} bars, ended {_F.age_from} to {_F.age_to} "
        f"bars ago at an extreme that holds; retraced <= {_percent(_F.retrace)}, mean V <= {_F.quiet:g} x "
        f"the pole's; C beyond the flag for the first time, V >= {_F.up:g} (up) or {_F.down:g} (down) x "
        f"the flag's", _all(_F)),
    Direction("island", "岛形反转", (UP, DOWN),
        "a second gap leaves 1 or more bars behind as an island: bottom 100, top -100",
        f"move of {_percent(_I.prior_move)} in {_I.prior_bars} bars, gap of {_percent(_I.gap)} in its "
        f"direction, 1 to {_I.bars} bars wholly beyond it, gap of {_percent(_I.gap)} back", _all(_I)),
)  # fmt: skip

_STAGES = {"0": "none", "1": "neck", "2": "head", "3": "beak"}


def _kinds(column: str) -> dict[str, str]:
    return {name: name.replace("_", " ") for name in KIND_NAMES[column].values()}


METRIC_CATALOGUE: tuple[Metric, ...] = (
    Metric("duck_stage", "老鸭头阶段", "", "stage of the old duck's head", _STAGES),
    Metric("duck_neck_days", "鸭颈天数", "days", "bars since the neck began", {}),
    Metric("duck_pullback_pct", "鸭头回撤", "pct", "today's low below the head top", {}),
    Metric("duck_vol_shrink_pct", "回撤缩量", "pct", "mean volume since the head below that of the neck leg",
        {}),
    Metric("duck_breakout_pct", "突破幅度", "pct", "close above the head top, on the day of the break", {}),
    Metric("rectangle_height_pct", "矩形高度", "pct", "mean of the highs above mean of the lows", {}),
    Metric("triangle_kind", "三角形类型", "", "kind of the current triangle", _kinds("triangle_kind")),
    Metric("wedge_kind", "楔形类型", "", "kind of the current wedge", _kinds("wedge_kind")),
    Metric("flag_kind", "旗形类型", "", "kind of the current flag", _kinds("flag_kind")),
)  # fmt: skip
