"""Fields of the calculated tables of indicators and patterns; names are the tables' columns."""

from platform_assets.compute.dsl.field_words import Field, number, text
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE

INDICATOR = "calc_indicator_daily"
PATTERN = "calc_pattern_daily"

# column | label | unit | example | other names
_INDICATORS = """
ma5|5日均线|CNY|price > ma5|均线5
ma10|10日均线|CNY|ma5 > ma10|均线10
ma20|20日均线|CNY|price > ma20|均线20
ma30|30日均线|CNY|price > ma30|均线30
ma60|60日均线|CNY|price > ma60|均线60
ma120|120日均线|CNY|price > ma120|半年线 均线120
ma250|250日均线|CNY|price > ma250|年线 均线250
ema12|12日指数均线|CNY|price > ema12|
ema26|26日指数均线|CNY|ema12 > ema26|
macd_dif|MACD DIF|CNY|macd_dif > macd_dea|dif
macd_dea|MACD DEA|CNY|macd_dea > 0|dea
macd_hist|MACD 柱|CNY|macd_hist > 0|hist macd
kdj_k|KDJ K||kdj_k > kdj_d|k
kdj_d|KDJ D||kdj_d < 20|d
kdj_j|KDJ J||kdj_j < 0|j
boll_upper|布林上轨|CNY|price > boll_upper|boll_up
boll_mid|布林中轨|CNY|price > boll_mid|
boll_lower|布林下轨|CNY|price < boll_lower|boll_low
boll_width_pct|布林带宽|pct|boll_width_pct < 10|
rsi6|RSI6||rsi6 < 20|
rsi12|RSI12||rsi12 > 50|
rsi14|RSI14||rsi14 > 50|rsi
rsi24|RSI24||rsi24 > 50|
atr14|ATR14|CNY|atr14 / price < 0.03|atr
atr14_w|ATR14 (Wilder)|CNY|atr14_w / price < 0.03|
cci14|CCI14||cci14 > 100|cci
wr10|WR10||wr10 > 80|wr
wr6|WR6||wr6 > 80|
wr14|WR14||wr14 > 80|
dmi_pdi|DMI PDI||dmi_pdi > dmi_mdi|pdi
dmi_mdi|DMI MDI||dmi_mdi < 20|mdi
dmi_adx|DMI ADX||dmi_adx > 25|adx
dmi_adxr|DMI ADXR||dmi_adx > dmi_adxr|adxr
trix|TRIX|pct|trix > trix_ma|trix12
trix_ma|TRIX均线|pct|trix_ma > 0|
obv|OBV|sh|obv is not null|
bias6|BIAS6|pct|bias6 < -5|乖离率
bias12|BIAS12|pct|bias12 < -8|
bias24|BIAS24|pct|bias24 < -10|
roc12|ROC12|pct|roc12 > 0|roc
mtm12|MTM12|CNY|mtm12 > 0|mtm
psy12|PSY12|pct|psy12 < 25|psy
vr26|VR26||vr26 between 80 and 150|vr
bbi|BBI|CNY|price > bbi|多空线
hhv20|20日最高|CNY|price >= hhv20|
llv20|20日最低|CNY|price <= llv20|
sar|SAR|CNY|price > sar|
vol_ma5|5日均量|sh|vol_ma5 > vol_ma10|vma5
vol_ma10|10日均量|sh|vol_ma5 > vol_ma10|vma10
vol_ratio_5|量能比||vol_ratio_5 >= 1.5|
rs_20d|20日相对强度|pct|rs_20d > 0|
rs_60d|60日相对强度|pct|rs_60d > 0|
"""


def _indicator(line: str) -> Field:
    name, label, unit, example, aliases = line.split("|")
    return number(name, label, unit, INDICATOR, example, aliases=aliases)


INDICATORS = (
    *(_indicator(line) for line in _INDICATORS.strip().splitlines()),
    number("ma_align", "均线排列", "", INDICATOR, "ma_align = 1", options=(1, 0, -1),
        note="1 MA5>MA10>MA20>MA60, -1 all reversed, else 0"),
)  # fmt: skip

_LABELS = {
    "cup_handle": "杯柄", "rectangle": "矩形突破", "triangle": "三角形突破", "wedge": "楔形突破",
    "flag": "旗形突破",
}  # fmt: skip
"""What the screener calls a pattern where it is not the name in the catalogue of patterns."""
DIRECTIONS = tuple(
    number(one.key, _LABELS.get(one.key, one.label), "", PATTERN, f"{one.key} = {one.signs[0]}",
        options=tuple(sorted((0, *one.signs), reverse=True)))
    for one in DIRECTION_CATALOGUE
)  # fmt: skip
METRICS = (
    number("duck_stage", "老鸭头阶段", "", PATTERN, "duck_stage >= 2", options=(0, 1, 2, 3)),
    number("duck_neck_days", "鸭颈天数", "", PATTERN, "duck_neck_days >= 10"),
    number("duck_pullback_pct", "鸭头回撤", "pct", PATTERN, "duck_pullback_pct between 5 and 15"),
    number("duck_vol_shrink_pct", "鸭头缩量", "pct", PATTERN, "duck_vol_shrink_pct >= 20"),
    number("duck_breakout_pct", "鸭嘴突破幅度", "pct", PATTERN, "duck_breakout_pct > 0"),
    number("rectangle_height_pct", "矩形高度", "pct", PATTERN, "rectangle_height_pct < 15"),
    text("triangle_kind", "三角形类型", PATTERN, "triangle_kind = 'ascending'",
        options=("ascending", "descending", "symmetric")),
    text("wedge_kind", "楔形类型", PATTERN, "wedge_kind = 'falling'", options=("rising", "falling")),
    text("flag_kind", "旗形类型", PATTERN, "flag_kind like 'bull'",
        options=("bull_flag", "bull_pennant", "bear_flag", "bear_pennant")),
)  # fmt: skip
PATTERNS = (*DIRECTIONS, *METRICS)
ZERO_WITHOUT_A_ROW = frozenset(one.name for one in (*DIRECTIONS, METRICS[0]))
"""A code without a row on a date that has been calculated has no pattern: 0, not NULL."""
