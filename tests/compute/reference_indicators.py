"""The indicators once more, of one code, with pandas windows and plain loops: what the kernels must equal."""

from itertools import pairwise

import numpy as np
import pandas as pd

from core.market.bars import Bars

S = pd.Series


def ema(x: S, n: int) -> S:
    return x.ewm(span=n, adjust=False).mean()


def sma(x: S, n: int) -> S:
    """y = (x + (n - 1) y') / n from the first known value."""
    return x.ewm(alpha=1 / n, adjust=False).mean()


def ma(x: S, n: int) -> S:
    return x.rolling(n).mean()


def reference(bars: Bars, index: S, ddof: int = 1) -> pd.DataFrame:
    """Columns of one code; `index`: close of the index on each of its bars."""
    f, v = S(bars.factor), S(bars.volume)
    high, low, c = (S(bars.adjusted(name)) for name in ("high", "low", "close"))
    made: dict[str, S] = {f"ma{n}": ma(c, n) / f for n in (5, 10, 20, 30, 60, 120, 250)}
    made |= {"ema12": ema(c, 12) / f, "ema26": ema(c, 26) / f}
    dif = ema(c, 12) - ema(c, 26)
    made |= {"macd_dif": dif / f, "macd_dea": ema(dif, 9) / f, "macd_hist": 2 * (dif - ema(dif, 9)) / f}
    k, d = stochastic(high, low, c)
    made |= {"kdj_k": k, "kdj_d": d, "kdj_j": 3 * k - 2 * d}
    wide = 2 * c.rolling(20).apply(lambda x: np.std(x, ddof=ddof), raw=True)
    made |= {"boll_upper": (ma(c, 20) + wide) / f, "boll_mid": ma(c, 20) / f}
    made |= {"boll_lower": (ma(c, 20) - wide) / f, "boll_width_pct": 2 * wide / ma(c, 20) * 100}
    gain = c.diff()
    for n in (6, 12, 14, 24):
        move = sma(gain.abs(), n)
        made[f"rsi{n}"] = (
            (sma(gain.clip(lower=0), n) / move * 100).mask(move == 0, 50.0).where(c.shift(n).notna())
        )
    tr = pd.concat([high - low, (high - c.shift()).abs(), (low - c.shift()).abs()], axis=1).max(axis=1)
    seeded = tr.copy()
    seeded[:14], seeded[14:15] = np.nan, tr[1:15].mean()
    made |= {"atr14": ma(tr, 14) / f, "atr14_w": sma(seeded, 14) / f}
    tp = (high + low + c) / 3
    away = tp.rolling(14).apply(lambda x: np.abs(x - x.mean()).mean(), raw=True)
    made["cci14"] = ((tp - ma(tp, 14)) / (0.015 * away)).mask(away < 1e-12, 0.0)
    for n in (10, 6, 14):
        top, span = high.rolling(n).max(), high.rolling(n).max() - low.rolling(n).min()
        made[f"wr{n}"] = (top - c) / span.where(span > 0) * 100
    up, down = high.diff(), -low.diff()
    noise = 1e-12 * high.abs()
    plus = up.where((up > 0) & (up > down + noise), 0.0).where(up.notna()).rolling(14).sum()
    minus = down.where((down > 0) & (down > up + noise), 0.0).where(up.notna()).rolling(14).sum()
    ranges = tr.rolling(14).sum().where(tr.rolling(14).sum() > 0)
    pdi, mdi = 100 * plus / ranges, 100 * minus / ranges
    dx = ((pdi - mdi).abs() / (pdi + mdi) * 100).mask(pdi + mdi == 0, 0.0)
    adx = ma(dx, 6)
    made |= {"dmi_pdi": pdi, "dmi_mdi": mdi, "dmi_adx": adx, "dmi_adxr": (adx + adx.shift(6)) / 2}
    triple = ema(ema(ema(c, 12), 12), 12)
    trix = triple.pct_change() * 100
    made |= {"trix": trix, "trix_ma": ma(trix, 9), "obv": (np.sign(gain) * v).fillna(0.0).cumsum()}
    made |= {f"bias{n}": (c / ma(c, n) - 1) * 100 for n in (6, 12, 24)}
    made |= {"roc12": (c / c.shift(12) - 1) * 100, "mtm12": (c - c.shift(12)) / f}
    made["psy12"] = (gain > 0).astype(float).where(gain.notna()).rolling(12).sum() / 12 * 100
    risen = v.where(gain > 0, 0.0).where(gain.notna()).rolling(26).sum()
    other = v.where(gain <= 0, 0.0).where(gain.notna()).rolling(26).sum()
    made["vr26"] = risen / other.where(other > 0) * 100
    made["bbi"] = (ma(c, 3) + ma(c, 6) + ma(c, 12) + ma(c, 20)) / 4 / f
    made |= {"hhv20": high.rolling(20).max() / f, "llv20": low.rolling(20).min() / f}
    made |= {"sar": parabolic(high, low, c) / f, "vol_ma5": ma(v, 5), "vol_ma10": ma(v, 10)}
    made["vol_ratio_5"] = v / ma(v, 5).shift().where(lambda mean: mean > 0)
    averages = [ma(c, n) for n in (5, 10, 20, 60)]
    rises = [over(one, other) for one, other in pairwise(averages)]
    falls = [over(other, one) for one, other in pairwise(averages)]
    align = S(np.where(np.all(rises, axis=0), 1.0, np.where(np.all(falls, axis=0), -1.0, 0.0)))
    made["ma_align"] = align.where(averages[3].notna())
    made["rtsi"] = strength(high, low, c, rises, pdi, mdi, made["rsi14"])
    made |= {f"chg_{n}d": (c / c.shift(n) - 1) * 100 for n in (5, 20, 60)}
    made |= {f"rs_{n}d": made[f"chg_{n}d"] - (index / index.shift(n) - 1) * 100 for n in (20, 60)}
    return pd.DataFrame(made)


def over(one: S, other: S) -> S:
    return one > other * (1 + 1e-12)


def stochastic(high: S, low: S, c: S) -> tuple[S, S]:
    top, bottom = high.rolling(9, min_periods=1).max(), low.rolling(9, min_periods=1).min()
    rsv = ((c - bottom) / (top - bottom).where(top > bottom) * 100).fillna(50.0)
    k, d, ks, ds = 50.0, 50.0, [], []
    for value in rsv:
        k = (2 * k + value) / 3
        d = (2 * d + k) / 3
        ks.append(k)
        ds.append(d)
    return S(ks), S(ds)


def parabolic(high: S, low: S, c: S) -> S:
    h, lo, out = high.tolist(), low.tolist(), [np.nan] * len(c)
    if len(c) < 10:
        return S(out, dtype=float)
    rising = c[9] > c[0]
    s, ep, af = (min(lo[:10]), max(h[:10]), 0.02) if rising else (max(h[:10]), min(lo[:10]), 0.02)
    out[9] = s
    for i in range(10, len(c)):
        s = s + af * (ep - s)
        s = min(s, lo[i - 1], lo[i - 2]) if rising else max(s, h[i - 1], h[i - 2])
        if (rising and lo[i] < s) or (not rising and h[i] > s):
            s, af, ep = ep, 0.02, (lo[i] if rising else h[i])
            rising = not rising
        elif (rising and h[i] > ep) or (not rising and lo[i] < ep):
            ep, af = (h[i] if rising else lo[i]), min(0.20, af + 0.02)
        out[i] = s
    return S(out)


def strength(high: S, low: S, c: S, rises: list[S], pdi: S, mdi: S, rsi14: S) -> S:
    ma20 = ma(c, 20)
    aligned = sum([*rises, over(c, ma20), over(ma20, ma20.shift(5))], S(0, index=c.index)) / 5
    out = []
    for i in range(len(c)):
        if i < 59:
            out.append(np.nan)
            continue
        y = np.log(c[i - 19 : i + 1].to_numpy())
        fit = 0.0
        if np.ptp(y) > 1e-10:
            slope = np.polyfit(np.arange(20), y, 1)[0]
            fit = np.sign(slope) * np.corrcoef(np.arange(20), y)[0, 1] ** 2
        parts = [(0.25, aligned[i]), (0.25, (fit + 1) / 2), (0.15, rsi14[i] / 100)]
        if pdi[i] + mdi[i] > 0:
            parts.append((0.20, ((pdi[i] - mdi[i]) / (pdi[i] + mdi[i]) + 1) / 2))
        top, bottom = high[i - 59 : i + 1].max(), low[i - 59 : i + 1].min()
        if top > bottom:
            parts.append((0.15, (c[i] - bottom) / (top - bottom)))
        out.append(100 * sum(w * p for w, p in parts) / sum(w for w, _ in parts))
    return S(out, dtype=float)
