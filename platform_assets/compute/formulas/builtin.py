"""Formulas that come with the platform."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Builtin:
    key: str
    name: str
    text: str
    description: str


BUILTINS = (
    Builtin("ma_golden_cross", "均线金叉", "CROSS(MA(C,5),MA(C,20))",
        "the 5-day mean crosses above the 20-day mean"),
    Builtin("macd_golden_cross", "MACD 金叉", "DIF:=EMA(C,12)-EMA(C,26);\nDEA:=EMA(DIF,9);\nCROSS(DIF,DEA)",
        "DIF crosses above DEA"),
    Builtin("macd_hist", "MACD 柱", "DIF:=EMA(C,12)-EMA(C,26);\nDEA:=EMA(DIF,9);\nMACD:2*(DIF-DEA);",
        "twice the distance of DIF from DEA"),
    Builtin("kdj_low_cross", "KDJ 低位金叉",
        "RSV:=(C-LLV(L,9))/(HHV(H,9)-LLV(L,9))*100;\nK:=SMA(RSV,3,1);\nD:=SMA(K,3,1);\nCROSS(K,D) AND K<30",
        "K crosses above D below 30"),
    Builtin("rsi6", "RSI6", "LC:=REF(C,1);\nRSI:SMA(MAX(C-LC,0),6,1)/SMA(ABS(C-LC),6,1)*100;",
        "strength of the rises of about 6 days, 0 to 100"),
    Builtin("boll_break", "突破布林上轨", "MID:=MA(C,20);\nUPPER:=MID+2*STD(C,20);\nCROSS(C,UPPER)",
        "the close crosses above the upper band"),
    Builtin("new_high_60", "60日新高", "C>REF(HHV(H,60),1)",
        "the close lies above the highest price of the 60 days before"),
    Builtin("volume_breakout", "放量突破", "CROSS(MA(C,5),MA(C,20)) AND V>1.5*MA(V,5) AND C>HHV(REF(H,1),20)",
        "means cross, volume above 1.5 times its 5-day mean, a 20-day high"),
    Builtin("bull_align", "均线多头排列", "MA(C,5)>MA(C,10) AND MA(C,10)>MA(C,20) AND MA(C,20)>MA(C,60)",
        "the means of 5, 10, 20 and 60 days lie above each other"),
    Builtin("three_soldiers", "三连阳", "EVERY(C>O,3) AND EVERY(C>REF(C,1),3)",
        "three rising days that closed above their open"),
    Builtin("shrink_pullback", "缩量回踩",
        "MA(C,20)>REF(MA(C,20),5) AND BETWEEN(L/MA(C,20),0.98,1.01) AND V<0.7*MA(V,5)",
        "back at a rising 20-day mean on little volume"),
    Builtin("long_below_cross", "久盘突破", "LONGCROSS(C,MA(C,60),20)",
        "the close crosses above the 60-day mean after 20 days below"),
    Builtin("gain_since_cross", "金叉以来涨幅", "N:=BARSLAST(CROSS(MA(C,5),MA(C,20)));\n(C/REF(C,N)-1)*100",
        "percent since the 5-day mean last crossed above the 20-day mean"),
    Builtin("days_since_high", "距60日高点天数", "HHVBARS(H,60)", "bars since the highest price of 60 days"),
    Builtin("rising_days", "连涨天数", "BARSLASTCOUNT(C>REF(C,1))", "days in a row with a higher close"),
    Builtin("trend_slope", "20日趋势斜率", "SLOPE(C,20)/MA(C,20)*100",
        "slope of the line through 20 closes, percent of their mean a day"),
)  # fmt: skip
