"""Steps of the indicator kernel. Each works on `s`, the scratch of one code: [layout.COUNT, bars], row `n`
being one series of its first `m` bars (`layout` names the rows)."""

import numpy as np

from core.arrays import Floats, Ints
from platform_assets.compute.indicators import layout as at
from platform_assets.compute.kernels import step

TOUCH = 1e-10
"""A price nearer to the stop than this share of it is at the stop."""


@step
def sums(s: Floats, table: Ints, m: int) -> None:
    """Each a sum over more bars from two over fewer (longer, shorter, lag, target); NaN where there are not
    so many bars."""
    for k in range(len(table)):
        lag, target = table[k, 2], s[table[k, 3]]
        for i in range(min(lag, m)):
            target[i] = np.nan
        if m > lag:
            new, old, out = s[table[k, 0], lag:m], s[table[k, 1], : m - lag], target[lag:m]
            for i in range(m - lag):
                out[i] = new[i] + old[i]


@step
def highest(s: Floats, m: int) -> None:
    """The same of highest values; at the beginning of those that there are."""
    for k in range(len(at.HIGHEST)):
        longer, lag, target = s[at.HIGHEST[k, 0]], at.HIGHEST[k, 2], s[at.HIGHEST[k, 3]]
        for i in range(min(lag, m)):
            target[i] = longer[i]
        if m > lag:
            new, old, out = longer[lag:m], s[at.HIGHEST[k, 1], : m - lag], target[lag:m]
            for i in range(m - lag):
                out[i] = new[i] if new[i] > old[i] else old[i]


@step
def load(inputs: Floats, start: int, m: int, s: Floats) -> None:
    """The inputs of one code into its rows, prices times the factor."""
    for i in range(m):
        factor = inputs[4, start + i]
        s[at.HIGH, i] = inputs[0, start + i] * factor
        s[at.DROP, i] = -inputs[1, start + i] * factor
        s[at.CLOSE, i] = inputs[2, start + i] * factor
        s[at.VOLUME, i] = inputs[3, start + i]
        s[at.FACTOR, i] = factor
        s[at.INDEX, i] = inputs[5, start + i]


@step
def give(s: Floats, first: int, m: int, to: int, out: Floats) -> None:
    """The columns from bar `first` on, prices in those of their date, as the rows from `to` on."""
    for k in range(len(at.PRICES)):
        price, scale = s[at.PRICES[k, 0]], s[at.FACTOR]
        for i in range(first, m):
            price[i] /= scale[i]
    for k in range(at.WIDTH):
        series, target = s[k, first:m], out[k, to : to + m - first]
        for i in range(m - first):
            target[i] = series[i]


@step
def changes(s: Floats, m: int) -> None:
    """Percent by which one series is above another some bars before."""
    for k in range(len(at.CHANGES)):
        top, bottom, target = s[at.CHANGES[k, 0]], s[at.CHANGES[k, 1]], s[at.CHANGES[k, 3]]
        lag, scale = at.CHANGES[k, 2], at.CHANGE_SCALES[k]
        for i in range(min(lag, m)):
            target[i] = np.nan
        if m > lag:
            new, old, out = top[lag:m], bottom[: m - lag], target[lag:m]
            for i in range(m - lag):
                out[i] = (new[i] * scale / old[i] - 1) * 100


@step
def means(s: Floats, m: int) -> None:
    """Sums over fixed windows become means."""
    for k in range(len(at.MEANS)):
        total, mean, divisor = s[at.MEANS[k, 0]], s[at.MEANS[k, 1]], at.MEAN_DIVISORS[k]
        for i in range(m):
            mean[i] = total[i] / divisor


@step
def williams(s: Floats, m: int) -> None:
    """Distance of the close from the highest high in percent of the range, 0 to 100."""
    close = s[at.CLOSE]
    for k in range(len(at.WILLIAMS)):
        high, drop, target = s[at.WILLIAMS[k, 0]], s[at.WILLIAMS[k, 1]], s[at.WILLIAMS[k, 3]]
        for i in range(m):
            span = high[i] + drop[i]
            known = i >= at.WILLIAMS[k, 2] - 1 and span > 0
            target[i] = (high[i] - close[i]) / span * 100 if known else np.nan


@step
def shifts(s: Floats, source: int, n: int, begin: int, m: int) -> None:
    """Sum over the last `n` bars of d, a series k bars ago minus the series now: exactly zero when nothing
    moves, whatever the price. One sum a loop, over slices: so the compiler does four bars at a time."""
    x, shift = s[source], s[at.SHIFT]
    for i in range(begin, m):
        shift[i] = 0.0 if i >= n - 1 else np.nan
    start = max(begin, n - 1)
    for k in range(1, n if m > start else 1):
        old, now, out = x[start - k : m - k], x[start:m], shift[start:m]
        for i in range(m - start):
            out[i] += old[i] - now[i]


@step
def spreads(s: Floats, source: int, n: int, begin: int, m: int) -> None:
    """The same of d squared."""
    x, spread = s[source], s[at.SPREAD]
    for i in range(begin, m):
        spread[i] = 0.0 if i >= n - 1 else np.nan
    start = max(begin, n - 1)
    for k in range(1, n if m > start else 1):
        old, now, out = x[start - k : m - k], x[start:m], spread[start:m]
        for i in range(m - start):
            out[i] += (old[i] - now[i]) * (old[i] - now[i])


@step
def tilts(s: Floats, source: int, n: int, begin: int, m: int) -> None:
    """The same of k d."""
    x, tilt = s[source], s[at.TILT]
    for i in range(begin, m):
        tilt[i] = 0.0 if i >= n - 1 else np.nan
    start = max(begin, n - 1)
    for k in range(1, n if m > start else 1):
        old, now, out, weight = x[start - k : m - k], x[start:m], tilt[start:m], float(k)
        for i in range(m - start):
            out[i] += weight * (old[i] - now[i])


@step
def bands(s: Floats, ddof: int, begin: int, m: int) -> None:
    """BOLL(20, 2) from the shifts and spreads of the close."""
    for i in range(begin, m):
        shift = s[at.SHIFT, i]
        wide = 2 * np.sqrt(max(0.0, (s[at.SPREAD, i] - shift * shift / 20) / (20 - ddof)))
        mid = s[at.CLOSE, i] + shift / 20
        if i < 19:
            wide = np.nan
        s[at.MID, i] = mid
        s[at.UPPER, i] = mid + wide
        s[at.LOWER, i] = mid - wide
        s[at.BAND, i] = 2 * wide / mid * 100


@step
def commodity(s: Floats, begin: int, m: int) -> None:
    """CCI(14) from the shifts of the typical price."""
    typical, mean, away = s[at.TYPICAL], s[at.SHIFT], s[at.AWAY]
    for i in range(begin, m):
        mean[i] = typical[i] + mean[i] / 14
        away[i] = abs(typical[i] - mean[i])
    start = max(begin, 13)
    for k in range(1, 14 if m > start else 1):
        old, of, out = typical[start - k : m - k], mean[start:m], away[start:m]
        for i in range(m - start):
            out[i] += abs(old[i] - of[i])
    for i in range(begin, m):
        value = (typical[i] - mean[i]) / (0.015 * away[i] / 14) if away[i] > 0 else 0.0
        s[at.CCI, i] = value if i >= 13 else np.nan


@step
def parabolic(s: Floats, m: int) -> None:
    """SAR, step 0.02 up to 0.20, from the tenth bar on.

    A bar that touches the stop does not cross it. The stop is a sum, so a touch is within its rounding.
    """
    high, drop, close, sar = s[at.HIGH], s[at.DROP], s[at.CLOSE], s[at.SAR]
    for i in range(min(9, m)):
        sar[i] = np.nan
    if m < 10:
        return
    up = close[9] > close[0]
    stop, extreme, speed = -s[at.DROP10, 9], s[at.HIGH10, 9], 0.02
    if not up:
        stop, extreme = extreme, stop
    sar[9] = stop
    for i in range(10, m):
        stop += speed * (extreme - stop)
        if up:
            stop = min(stop, -drop[i - 1], -drop[i - 2])
            crossed, beyond, here = stop + drop[i] > TOUCH * stop, high[i] > extreme, high[i]
        else:
            stop = max(stop, high[i - 1], high[i - 2])
            crossed, beyond, here = high[i] - stop > TOUCH * stop, -drop[i] < extreme, -drop[i]
        if crossed:
            stop = extreme
            extreme = -drop[i] if up else high[i]
            up, speed = not up, 0.02
        elif beyond:
            extreme, speed = here, min(0.20, speed + 0.02)
        sar[i] = stop


@step
def recursions(s: Floats, m: int) -> None:
    """Computes indicators that depend on their own value of the bar before: EMA, MACD, TRIX, KDJ."""
    close = s[at.CLOSE]
    fast = slow = second = third = close[0]
    signal = 0.0
    k = d = 50.0
    for i in range(m):
        c = close[i]
        fast += (c - fast) * (2 / 13)
        slow += (c - slow) * (2 / 27)
        signal += (fast - slow - signal) * (2 / 10)
        s[at.EMA12, i], s[at.EMA26, i] = fast, slow
        s[at.DIF, i], s[at.DEA, i] = fast - slow, signal
        s[at.HIST, i] = 2 * (fast - slow - signal)
        second += (fast - second) * (2 / 13)
        before = third
        third += (second - third) * (2 / 13)
        s[at.TRIX, i] = (third / before - 1) * 100 if i > 0 else np.nan
        span = s[at.HIGH9, i] + s[at.DROP9, i]
        rsv = (c + s[at.DROP9, i]) / span * 100 if span > 0 else 50.0
        k = (2 * k + rsv) / 3
        d = (2 * d + k) / 3
        s[at.K, i], s[at.D, i], s[at.J, i] = k, d, 3 * k - 2 * d


@step
def differences(s: Floats, m: int) -> None:
    """Computes series that compare a bar with the one before: true range, directed moves, rises, RSI, OBV,
    Wilder's ATR."""
    high, drop, close, volume = s[at.HIGH], s[at.DROP], s[at.CLOSE], s[at.VOLUME]
    rise, move = np.zeros(len(at.RSI_LENGTHS)), np.zeros(len(at.RSI_LENGTHS))
    balance = wilder = 0.0
    for i in range(m):
        b = max(i - 1, 0)
        first = np.nan if i == 0 else 0.0
        gain = close[i] - close[b]
        tr = max(high[i], close[b]) + max(drop[i], -close[b]) if i > 0 else high[i] + drop[i]
        higher, lower = high[i] - high[b], drop[i] - drop[b]
        s[at.TR, i] = tr
        # A tie in ticks is no tie in floats: what differs by less than their rounding is equal.
        noise = at.EQUAL * abs(high[i])
        s[at.PLUS, i] = first + (higher if higher > 0 and higher > lower + noise else 0.0)
        s[at.MINUS, i] = first + (lower if lower > 0 and lower > higher + noise else 0.0)
        s[at.UP, i] = first + (1.0 if gain > 0 else 0.0)
        s[at.UP_VOLUME, i] = first + (volume[i] if gain > 0 else volume[i] * 0.0)
        s[at.OTHER_VOLUME, i] = first + (volume[i] if gain <= 0 else volume[i] * 0.0)
        if volume[i] > 0:
            balance += np.sign(gain) * volume[i]
        s[at.OBV, i] = balance
        for k in range(len(at.RSI_LENGTHS)):
            n = at.RSI_LENGTHS[k] if i > 1 else 1.0
            rise[k] = (max(gain, 0.0) + (n - 1) * rise[k]) / n
            move[k] = (abs(gain) + (n - 1) * move[k]) / n
            reported = rise[k] / move[k] * 100 if move[k] > 0 else 50.0
            s[at.RSI_ROWS[k, 0], i] = reported if i >= at.RSI_LENGTHS[k] else np.nan
        if 0 < i <= 14:
            wilder += tr / 14
        elif i > 14:
            wilder += (tr - wilder) / 14
        s[at.ATR_W, i] = wilder if i >= 14 else np.nan
        s[at.TYPICAL, i] = (high[i] - drop[i] + close[i]) / 3
