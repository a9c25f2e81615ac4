"""Ex-right arithmetic: reference prices, adjustment factors, adjusted bars. Pure numpy and pandas.

An event changes the price per share from P to (10 P - cash + rights * rights_price) /
(10 + bonus + rights), all amounts per 10 shares, rounded half up to the tick. The factor of an event is
previous close / reference price; the cumulative factor of a bar is the product of the factors of all
events up to its date, 1.0 at listing.
"""

import numpy as np
import pandas as pd

from core.arrays import Floats


def reference_price(
    close: Floats, cash: Floats, bonus: Floats, rights: Floats, rights_price: Floats, tick: float = 0.01
) -> Floats:
    """Ex-right reference price in CNY; cash, bonus and rights are per 10 shares."""
    raw = (10.0 * close - cash + rights * rights_price) / (10.0 + bonus + rights)
    # A small nudge makes half-up of values like 12.345 independent of their binary form.
    return np.floor(raw / tick + 0.5 + 1e-7) * tick


def references(bars: pd.DataFrame, events: pd.DataFrame | None) -> Floats:
    """Reference price of each of one code's bars, oldest first: the close before it, taken down by the
    category-1 events in between (columns of `ref_exright`). The first bar has one only where the upstream
    has its change (`change_amt`, against the close before or the issue price), else NaN."""
    closes = bars["close"].to_numpy(dtype=float)
    before: Floats = np.concatenate([[np.nan], closes[:-1]])[: len(closes)]
    if len(closes) and "change_amt" in bars.columns:
        before[0] = closes[0] - bars["change_amt"].to_numpy(dtype=float, na_value=np.nan)[0]
    if events is None or not len(bars):
        return np.round(before, 4)
    dates = bars["date"].to_numpy(dtype=str)
    # An ex-date inside a suspension takes effect on the first bar at or after it.
    places = np.searchsorted(dates, events["date"].to_numpy(dtype=str), side="left")
    for place, event in zip(places.tolist(), events.itertuples(index=False), strict=True):
        if place < len(dates) and (place or event.date == dates[0]):
            cash, bonus, rights, price = (
                np.array([0.0 if pd.isna(v) else float(v)])
                for v in (event.cash_per10, event.bonus_per10, event.rights_per10, event.rights_price)
            )
            before[place] = reference_price(before[place : place + 1], cash, bonus, rights, price)[0]
    return np.round(before, 4)


def adjust(prices: Floats, factor: Floats, how: str, *, newest: float | None = None) -> Floats:
    """Prices adjusted multiplicatively: `none`, `qfq` (1 at the newest bar known) or `hfq`.

    `newest` is the factor of the newest bar known (default: the last of `factor`).
    """
    if how == "none" or len(prices) == 0:
        return prices
    if how == "hfq":
        return prices * factor
    base = factor[-1] if newest is None else newest
    return prices * (factor / base)
