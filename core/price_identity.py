"""Whether prices are those of the instrument that they came under. Pure numpy.

When an upstream answers with another instrument, its prices, volume and amount still fit each other. Only its
previous close can be checked, against the other sources and the stored bar of the day before.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from core.arrays import Bools, Floats
from core.declaration.scope import Context

LOWEST, HIGHEST = 0.2, 1.35
"""Reference price / previous close: an ex-right event takes a price down, to a fifth at most; upwards only
a stored close of one session before, at the widest price limit, is explained."""
_TICK, _RELATIVE = 0.0151, 0.002


def same(first: Floats, second: Floats) -> Bools:
    """Equal but for roundings of a tick; a missing value equals nothing."""
    with np.errstate(invalid="ignore"):
        return np.abs(first - second) <= _TICK + _RELATIVE * np.abs(second)


def explained(reference: Floats, close: Floats) -> Bools:
    """Whether an ex-right event or a day's move can explain the difference between a close and a reference
    price. True where a price is missing or zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = reference / close
        known = (reference > 0) & (close > 0)
    return ~known | ((ratio >= LOWEST) & (ratio <= HIGHEST))


def foreign(reported: dict[str, Floats], stored: Floats, adjusted: Floats) -> dict[str, Bools]:
    """For each source which of its previous closes (`reported`, one place per security) is of another
    instrument. `stored` is the close of the session before, `adjusted` the same after the day's known events;
    NaN = not known.

    A source that one other source or the stored close agrees with is accepted. Otherwise it is of another
    instrument when no event explains the difference from the stored close, when it lies above a stored close
    that another source confirms, or when two others agree; without a stored close when no event explains the
    difference.
    """
    result = {}
    for name, own in reported.items():
        others = [values for other, values in reported.items() if other != name]
        nothing = np.zeros(len(own), dtype=bool)
        agreed = same(own, stored) | same(own, adjusted)
        confirmed, outvoted, far = nothing.copy(), nothing.copy(), nothing.copy()
        for values in others:
            agreed |= same(own, values)
            confirmed |= same(values, stored)
            far |= ~explained(own, values) | ~explained(values, own)
        for one, two in combinations(others, 2):
            outvoted |= same(one, two)
        with np.errstate(invalid="ignore"):
            above = confirmed & (own > stored)
        unknown = np.isnan(stored)
        guilty = np.where(unknown, far, ~explained(own, adjusted) | above) | outvoted
        result[name] = (own > 0) & ~agreed & guilty
    return result


def of_this_instrument(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The previous close is not one of another instrument. Rows of all sources of one trade
    date: code, src, last_close. A range is not judged: its bars are, when they are fetched."""
    if context.scope.is_range or rows.empty:
        return pd.Series(True, index=rows.index)
    day = context.scope.until
    before = context.calendar.last(2, day)[0]
    bars = context.read("fusion_kline_daily", columns=("code", "close"), since=before, until=before)
    events = context.read("ref_exright", columns=("code", "factor"), since=day, until=day)
    pivot = rows.pivot_table(index="code", columns="src", values="last_close", aggfunc="first")
    stored = pivot.index.map(bars.drop_duplicates("code").set_index("code")["close"].to_dict())
    factor = pivot.index.map(events.dropna().groupby("code")["factor"].prod().to_dict())
    close = np.asarray(stored, dtype=np.float64)
    adjusted = close / np.nan_to_num(np.asarray(factor, dtype=np.float64), nan=1.0)
    reported = {str(name): pivot[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in pivot.columns}
    guilty = {
        (code, name)
        for name, marks in foreign(reported, close, adjusted).items()
        for code in pivot.index[marks]
    }
    fine = [pair not in guilty for pair in zip(rows["code"], rows["src"], strict=True)]
    return pd.Series(fine, index=rows.index)
