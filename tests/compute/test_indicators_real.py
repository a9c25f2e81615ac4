"""Indicators on real bars: no look ahead, and agreement with TA-Lib where the convention is the same."""

import numpy as np
import pytest
import talib

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.indicators import indicator_columns
from platform_assets.compute.kernels import kernel
from tests.compute.prefix import mismatches

SETTLED, SETTLED_RSI24 = 250, 360
"""Bars after which the beginning of a recursion no longer shows in the third decimal; of RSI24, the slowest,
after a few more."""


def check_prefixes(bars: Bars, index: tuple[np.ndarray, np.ndarray], every: int) -> None:
    assert not mismatches(
        lambda some: indicator_columns(some, index=index),
        bars,
        last=lambda some: indicator_columns(some, index=index, newest=1),
        every=every,
        exact=("ma_align", "psy12"),
    )


def test_no_indicator_looks_ahead(real_bars: Bars, real_index: tuple[np.ndarray, np.ndarray]) -> None:
    assert len(real_bars.codes) == 20
    check_prefixes(real_bars, real_index, every=1)


@pytest.mark.soak
@pytest.mark.real_data
def test_no_indicator_of_300_codes_looks_ahead(
    all_real_bars: Bars, real_index: tuple[np.ndarray, np.ndarray]
) -> None:
    check_prefixes(all_real_bars, real_index, every=1)


@kernel
def rises_tomorrow(close: Floats, out: Floats) -> None:
    """Looks one bar ahead."""
    for i in range(len(close)):
        out[i] = close[min(i + 1, len(close) - 1)] - close[i]


def test_a_kernel_that_looks_ahead_is_caught(real_bars: Bars) -> None:
    def planted(bars: Bars) -> dict[str, Floats]:
        out = np.empty(len(bars))
        for code in bars.codes:
            rises_tomorrow(bars.close[bars.rows_of(code)], out[bars.rows_of(code)])
        return {"rises": out, "close": bars.close}

    found = mismatches(planted, real_bars, since=400)
    assert {one.column for one in found} == {"rises"}
    assert {one.code for one in found} == set(real_bars.codes)


TALIB = {
    **{f"ma{n}": lambda o, n=n: talib.SMA(o["c"], n) for n in (5, 10, 20, 30, 60, 120, 250)},
    "cci14": lambda o: talib.CCI(o["h"], o["l"], o["c"], 14),
    "atr14_w": lambda o: talib.ATR(o["h"], o["l"], o["c"], 14),
    **{f"wr{n}": lambda o, n=n: -talib.WILLR(o["h"], o["l"], o["c"], n) for n in (6, 10, 14)},
    "boll_upper": lambda o: talib.BBANDS(o["c"], 20)[0],
    "boll_lower": lambda o: talib.BBANDS(o["c"], 20)[2],
    "hhv20": lambda o: talib.MAX(o["h"], 20),
    "llv20": lambda o: talib.MIN(o["l"], 20),
    "roc12": lambda o: talib.ROC(o["c"], 12),
    "mtm12": lambda o: talib.MOM(o["c"], 12),
    "vol_ma5": lambda o: talib.SMA(o["v"], 5),
}
TALIB_SETTLED = {
    "ema12": lambda o: talib.EMA(o["c"], 12),
    "ema26": lambda o: talib.EMA(o["c"], 26),
    "macd_dif": lambda o: talib.MACD(o["c"])[0],
    "macd_dea": lambda o: talib.MACD(o["c"])[1],
    "macd_hist": lambda o: 2 * talib.MACD(o["c"])[2],
    **{f"rsi{n}": lambda o, n=n: talib.RSI(o["c"], n) for n in (6, 12, 14, 24)},
    "kdj_k": lambda o: talib.STOCH(o["h"], o["l"], o["c"], 9, 5, 1, 5, 1)[0],
    "kdj_d": lambda o: talib.STOCH(o["h"], o["l"], o["c"], 9, 5, 1, 5, 1)[1],
    "trix": lambda o: talib.TRIX(o["c"], 12),
}
PRICES = ("ma", "atr", "boll", "hhv", "llv", "mtm", "ema", "macd")


def agree(bars: Bars) -> None:
    mine = indicator_columns(bars, ddof=0)
    for code in bars.codes:
        rows = bars.rows_of(code)
        one = {
            "h": bars.adjusted("high")[rows],
            "l": bars.adjusted("low")[rows],
            "c": bars.adjusted("close")[rows],
            "v": bars.volume[rows],
        }
        for name, function in (TALIB | TALIB_SETTLED).items():
            theirs = function(one) / (bars.factor[rows] if name.startswith(PRICES) else 1.0)
            ours = mine[name][rows]
            if name in TALIB_SETTLED:
                since = SETTLED_RSI24 if name == "rsi24" else SETTLED
                np.testing.assert_allclose(ours[since:], theirs[since:], rtol=0, atol=1e-3, err_msg=name)
                continue
            known = np.isfinite(theirs) & np.isfinite(ours)
            assert (np.isfinite(ours) == np.isfinite(theirs)).all() or name.startswith("wr"), name
            np.testing.assert_allclose(ours[known], theirs[known], rtol=1e-7, atol=1e-6, err_msg=name)
        theirs = np.diff(talib.OBV(one["c"], one["v"]))
        np.testing.assert_allclose(np.diff(mine["obv"][rows]), theirs, rtol=1e-9, err_msg="obv")


def test_talib_agrees_where_the_convention_is_the_same(real_bars: Bars) -> None:
    agree(real_bars)


@pytest.mark.soak
@pytest.mark.real_data
def test_talib_agrees_on_300_codes(all_real_bars: Bars) -> None:
    agree(all_real_bars)
