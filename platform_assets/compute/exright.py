"""Ex-right arithmetic: reference prices, adjustment factors, adjusted bars. Pure numpy and pandas.

An event changes the price per share from P to (10 P - cash + rights * rights_price) /
(10 + bonus + rights), all amounts per 10 shares, rounded half up to the tick of the instrument. What goes ex
on one date is one reference price; of several dates between two bars each begins at the reference price of
the one before. The factor of an event is the price before it / the price after it, so the close before such a
gap is the reference price of the bar after it times the factors of the gap. The cumulative factor of a bar is
the product of the factors of all events up to its date, 1.0 at listing.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats
from core.market.securities import tick_of_code

PRICE_EVENTS = (1, 11)
"""Categories of the terminal's records that move the price: ex-rights and dividends; splits and
consolidations. Warrants (13, 14) and shares that do not trade (12) leave the reference price as it is, and of
a reorganisation (15) only the exchange's quote tells the new one."""
TERMS = ("cash_per10", "bonus_per10", "rights_per10", "rights_price")


@dataclass(frozen=True)
class Gaps:
    """What the events of one code make of its bars."""

    references: Floats
    """[bars] ex-right reference price, CNY; NaN on a first bar without a price before it."""
    factors: Floats
    """[events] in the order given; NaN where the close before the event is not known."""
    following: float
    """Reference price of the bar after the last one, CNY; NaN without a bar."""


def moves_price(events: pd.DataFrame) -> pd.Series:
    """Which rows of `ref_exright` (category, held_back) change the price."""
    return events["category"].isin(PRICE_EVENTS) & events["held_back"].isna()


def bonus_of_split(ratio: Floats) -> Floats:
    """Shares given per 10 shares when one share becomes `ratio`; below zero in a consolidation."""
    return np.round(10.0 * (ratio - 1.0), 9)


def reference_price(
    close: Floats, cash: Floats, bonus: Floats, rights: Floats, rights_price: Floats, tick: Floats
) -> Floats:
    """Ex-right reference price in CNY; cash, bonus and rights are per 10 shares. `tick`: of the instrument,
    in CNY (`core.market.securities.tick_of_code`)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        raw = (10.0 * close - cash + rights * rights_price) / (10.0 + bonus + rights)
        # A small nudge makes half-up of values like 12.345 independent of their binary form.
        return np.round(np.floor(raw / tick + 0.5 + 1e-7) * tick, 4)


def gaps(
    code: str,
    market: str,
    dates: npt.NDArray[np.str_],
    closes: Floats,
    events: pd.DataFrame,
    before: float = np.nan,
) -> Gaps:
    """`dates`, `closes`: the bars of one code, oldest first. `events`: columns `date` and `TERMS` of those
    that move the price, in any order. `before`: the price before the first bar, where it is known; it is that
    of an event on the first bar's own date, not of earlier ones."""
    tick = np.array([tick_of_code(code, market)])
    references = np.concatenate([[before], closes])
    factors = np.full(len(events), np.nan)
    days = events["date"].to_numpy(dtype=str)
    terms = np.nan_to_num(events[list(TERMS)].to_numpy(dtype=float))
    terms[:, 3] *= terms[:, 2]  # what the rights of 10 shares cost
    # An ex-date inside a suspension takes effect on the first bar at or after it.
    places = np.searchsorted(dates, days, side="left")
    order = np.argsort(days, kind="stable")
    for on_date in np.split(order, np.flatnonzero(days[order][1:] != days[order][:-1]) + 1):
        if not len(on_date):
            continue
        place = int(places[on_date[0]])
        if place == 0 and not (len(dates) and days[on_date[0]] == dates[0]):
            continue
        # Each event with those before it on the date; the reference price is that of all of them.
        cash, bonus, rights, paid = terms[on_date].cumsum(axis=0).T
        start = np.full(len(on_date), references[place])
        prices = reference_price(start, cash - paid, bonus, rights, np.zeros(1), tick)
        valid = np.isfinite(prices) & (prices > 0)
        if not (valid[-1] and start[0] > 0):
            continue  # no price is left: the date changes nothing, and has no factor
        price = start[0]
        for event, after in zip(on_date, np.where(valid, prices, np.nan), strict=True):
            if after > 0:
                factors[event], price = price / after, after
        references[place] = price
    references = np.round(references, 4)
    return Gaps(references[:-1], factors, float(references[-1]) if len(closes) else np.nan)


def with_items(
    code: str, market: str, dates: npt.NDArray[np.str_], made: Floats, items: pd.DataFrame
) -> Floats:
    """Reference prices of the bars as they were quoted, where the events leave a factor to the quote
    (`ref_exright_item`: date, factor)."""
    tick = np.array([tick_of_code(code, market)])
    found = made.copy()
    for item in items.itertuples(index=False):
        place = int(np.searchsorted(dates, item.date, side="left"))
        if place < len(dates):
            none = np.zeros(1)
            found[place] = reference_price(found[[place]] / item.factor, none, none, none, none, tick)[0]
    return found


def references(
    code: str, market: str, bars: pd.DataFrame, events: pd.DataFrame | None, items: pd.DataFrame | None
) -> Floats:
    """Reference price of each of one code's bars, oldest first: the close before it, taken down by the
    events in between (columns of `ref_exright`, those that move the price) and by what they leave to the
    quotes (`items`, as in `with_items`). The first bar has one only where the upstream has its change
    (`change_amt`, against the close before or the issue price), else NaN."""
    if not len(bars):
        return np.zeros(0)
    closes = bars["close"].to_numpy(dtype=float)
    before = np.nan
    if len(closes) and "change_amt" in bars.columns:
        before = closes[0] - bars["change_amt"].to_numpy(dtype=float, na_value=np.nan)[0]
    dates = bars["date"].to_numpy(dtype=str)
    made = np.round(np.concatenate([[before], closes])[:-1], 4)
    if events is not None:
        made = gaps(code, market, dates, closes, events, before).references
    return made if items is None else with_items(code, market, dates, made, items)


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
