"""calc_indicator_daily: technical indicators of every stock that traded on a date.

Definitions and conventions: `docs/calculations/indicators.md`. Prices are adjusted as of the row's own date,
so a row is what was seen on that day and no ex-right date rewrites it.
"""

import pandas as pd

from core.declaration.columns import Code, Date, F, Int, Model, Pct, Px, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, TEXT, TEXTS, latest, market, timeseries
from core.declaration.rules import Needed, trading
from core.declaration.scope import Scope
from platform_assets.datasets._quant import (
    BARS,
    INDEX,
    WHOLE_WINDOW,
    columns_without,
    indicators_of,
    rows_of,
    stretches_of,
)
from resources.upstreams.fetch_context import FetchContext


class IndicatorDaily(Model):
    """Indicators at the close; null where there are not enough bars."""

    code: Code = key("security code")
    date: Date = key("trade date")
    close: Px = col("CNY", "closing price, unadjusted", nullable=False, gt=0)
    ma5: Px = col("CNY", "mean close of 5 bars")
    ma10: Px = col("CNY", "mean close of 10 bars")
    ma20: Px = col("CNY", "mean close of 20 bars")
    ma30: Px = col("CNY", "mean close of 30 bars")
    ma60: Px = col("CNY", "mean close of 60 bars")
    ma120: Px = col("CNY", "mean close of 120 bars")
    ma250: Px = col("CNY", "mean close of 250 bars")
    ema12: Px = col("CNY", "exponential mean of 12")
    ema26: Px = col("CNY", "exponential mean of 26")
    macd_dif: F = col("CNY", "ema12 - ema26", decimals=4)
    macd_dea: F = col("CNY", "EMA(dif, 9)", decimals=4)
    macd_hist: F = col("CNY", "2 x (dif - dea)", decimals=4)
    kdj_k: F = col("", "KDJ(9,3,3), starts at 50", ge=-1e-6, le=100.000001, decimals=4)
    kdj_d: F = col("", "SMA of K", ge=-1e-6, le=100.000001, decimals=4)
    kdj_j: F = col("", "3K - 2D", decimals=4)
    boll_upper: Px = col("CNY", "mid + 2 deviations of the sample (ddof 1)")
    boll_mid: Px = col("CNY", "mean close of 20 bars")
    boll_lower: Px = col("CNY", "mid - 2 deviations")
    boll_width_pct: Pct = col("pct", "(upper - lower) / mid")
    rsi6: F = col("", "RSI of 6, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    rsi12: F = col("", "RSI of 12, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    rsi14: F = col("", "RSI of 14, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    rsi24: F = col("", "RSI of 24, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    atr14: F = col("CNY", "mean true range of 14 bars", ge=0, decimals=4)
    atr14_w: F = col("CNY", "Wilder's average true range of 14", ge=0, decimals=4)
    cci14: F = col("", "CCI of 14", decimals=4)
    wr10: F = col("", "%R of 10, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    wr6: F = col("", "%R of 6, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    wr14: F = col("", "%R of 14, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    dmi_pdi: F = col("", "+DI of sums over 14", ge=-1e-6, le=100.000001, decimals=4)
    dmi_mdi: F = col("", "-DI of sums over 14", ge=-1e-6, le=100.000001, decimals=4)
    dmi_adx: F = col("", "mean of DX over 6", ge=-1e-6, le=100.000001, decimals=4)
    dmi_adxr: F = col("", "(ADX + ADX six bars ago) / 2", ge=-1e-6, le=100.000001, decimals=4)
    trix: F = col("pct", "one-bar change of the triple EMA of 12", decimals=4)
    trix_ma: F = col("pct", "its mean of 9", decimals=4)
    obv: F = col(
        "sh", "on-balance volume since the first bar of the row's own window: no two rows compare", decimals=4
    )
    bias6: Pct = col("pct", "close against ma of 6")
    bias12: Pct = col("pct", "close against ma of 12")
    bias24: Pct = col("pct", "close against ma of 24")
    roc12: Pct = col("pct", "change over 12 bars")
    mtm12: F = col("CNY", "close - close of 12 bars ago", decimals=4)
    psy12: F = col("pct", "share of rising bars of 12", ge=-1e-6, le=100.000001, decimals=4)
    vr26: F = col("", "volume of rising over other bars of 26, x 100", ge=0, decimals=4)
    bbi: Px = col("CNY", "mean of ma3, ma6, ma12 and ma20")
    hhv20: Px = col("CNY", "highest high of 20 bars")
    llv20: Px = col("CNY", "lowest low of 20 bars")
    sar: Px = col("CNY", "parabolic SAR, 0.02 to 0.20")
    vol_ma5: F = col("sh", "mean volume of 5 bars", ge=0, decimals=4)
    vol_ma10: F = col("sh", "mean volume of 10 bars", ge=0, decimals=4)
    vol_ratio_5: F = col("", "volume over the mean of the five bars before", ge=0, decimals=4)
    rtsi: F = col("", "trend strength, 0..100", ge=-1e-6, le=100.000001, decimals=4)
    chg_5d: Pct = col("pct", "change over 5 bars")
    chg_20d: Pct = col("pct", "change over 20 bars")
    chg_60d: Pct = col("pct", "change over 60 bars")
    rs_20d: Pct = col("pct", "chg_20d less that of the CSI 300")
    rs_60d: Pct = col("pct", "chg_60d less that of the CSI 300")
    ma_align: Int = col("", "1: ma5 > ma10 > ma20 > ma60, -1 the reverse, 0 mixed", isin=[-1, 0, 1])


def indicators(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every date from its own window."""
    frames = [rows_of(stretch, indicators_of(ctx, scope, stretch)) for stretch in stretches_of(ctx, scope)]
    return stacked(frames, IndicatorDaily.to_schema().columns)


DATASET = Dataset(
    name="indicator_daily",
    subject="signals",
    title="Technical indicators by trade date",
    model=IndicatorDaily,
    adjusted=columns_without(
        IndicatorDaily,
        IndicatorDaily.close,
        IndicatorDaily.vol_ma5,
        IndicatorDaily.vol_ma10,
        IndicatorDaily.vol_ratio_5,
    ),
    calculate=indicators,
    reads=(BARS, INDEX),
    needs=(
        WHOLE_WINDOW,
        Needed(BARS, ("chg_5d",), 6),
        Needed(BARS, ("chg_20d", "rs_20d"), 21),
        Needed(BARS, ("chg_60d", "rs_60d"), 61),
    ),
    freshness=trading(1),
    tasks=("quant_calc",),
    interfaces=(
        latest("get_indicator", "newest indicators of a code", 600),
        timeseries(
            "get_indicator_history", "history", "indicators of a code by date, oldest first", ttl=600
        ).takes(code=REQUIRED, start_date=DAY, end_date=DAY, limit=120, fields=TEXTS),
        market("get_indicator_by_date", "by_date", "indicators of the market on one date", ttl=600).takes(
            trade_date=DAY, sort=TEXT, limit=200, offset=0, fields=TEXTS
        ),
    ),
)
