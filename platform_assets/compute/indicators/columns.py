"""The names of the indicators, in the order of `calc_indicator_daily`. Without numba."""

COLUMNS = tuple(
    "ma5 ma10 ma20 ma30 ma60 ma120 ma250 ema12 ema26 macd_dif macd_dea macd_hist kdj_k kdj_d kdj_j "
    "boll_upper boll_mid boll_lower boll_width_pct rsi6 rsi12 rsi14 rsi24 atr14 atr14_w cci14 wr10 wr6 wr14 "
    "dmi_pdi dmi_mdi dmi_adx dmi_adxr trix trix_ma obv bias6 bias12 bias24 roc12 mtm12 psy12 vr26 bbi hhv20 "
    "llv20 sar vol_ma5 vol_ma10 vol_ratio_5 rtsi chg_5d chg_20d chg_60d rs_20d rs_60d ma_align".split()
)
PRICE_SCALE = tuple(
    "ma5 ma10 ma20 ma30 ma60 ma120 ma250 ema12 ema26 macd_dif macd_dea macd_hist boll_upper boll_mid "
    "boll_lower atr14 atr14_w mtm12 bbi hhv20 llv20 sar".split()
)
"""In CNY: given in the prices of their own date."""
