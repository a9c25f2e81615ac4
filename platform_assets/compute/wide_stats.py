"""Statistics of the wide table from a panel of daily bars: changes, extremes, streaks. Pure numpy.

A panel is [dates, codes], newest date last; prices are adjusted to the newest date, so that changes run
through ex-dates. NaN = no bar. Every figure is of the newest date and uses nothing later.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from platform_assets.compute.limit_days import limit_streaks
from platform_assets.compute.nan_arithmetic import divided

Panel = npt.NDArray[np.float64]
Row = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class BarPanel:
    """`close`, `high`, `low` adjusted; `volume` shares; `up`, `up_open` 1.0 where the limit was held or
    touched only. A session without trade has the close that is carried on, for changes between two sessions,
    and NaN in every other column; means, extremes and deviations are of traded sessions. `year_start` is the
    row of the last session of the previous year, or -1."""

    close: Panel
    high: Panel
    low: Panel
    volume: Panel
    up: Panel
    up_open: Panel
    year_start: int


def change(panel: BarPanel, sessions: int) -> Row:
    """Percent against the close `sessions` rows before; NaN where the panel is too short."""
    if panel.close.shape[0] <= sessions:
        return np.full(panel.close.shape[1], np.nan)
    percent: Row = (panel.close[-1] / panel.close[-1 - sessions] - 1) * 100
    return percent


def newest_traded(panel: BarPanel, values: Panel, count: int) -> Panel:
    """[count, codes] values of each code's newest traded sessions, oldest first; NaN throughout for a code
    with fewer."""
    traded = panel.volume > 0
    from_end = np.cumsum(traded[::-1], axis=0)[::-1]
    found = np.full((count, values.shape[1]), np.nan)
    line, place = np.nonzero(traded & (from_end <= count))
    found[count - from_end[line, place], place] = values[line, place]
    found[:, from_end[0] < count] = np.nan
    return found


def change_ytd(panel: BarPanel) -> Row:
    if panel.year_start < 0:
        return np.full(panel.close.shape[1], np.nan)
    percent: Row = (panel.close[-1] / panel.close[panel.year_start] - 1) * 100
    return percent


def mean_deviation(panel: BarPanel, sessions: int) -> Row:
    """Close against the mean of the newest traded sessions, percent; NaN without so many of them."""
    percent: Row = (panel.close[-1] / newest_traded(panel, panel.close, sessions).mean(axis=0) - 1) * 100
    return percent


def volume_acceleration(panel: BarPanel) -> Row:
    """Mean volume of the last 5 traded sessions / mean of the 5 before."""
    volume = newest_traded(panel, panel.volume, 10)
    return divided(volume[5:].mean(axis=0), volume[:5].mean(axis=0))


def volatility(panel: BarPanel, sessions: int = 20) -> Row:
    """Sample deviation of the returns between traded sessions, percent."""
    window = newest_traded(panel, panel.close, sessions + 1)
    returns: Row = ((window[1:] / window[:-1] - 1) * 100).std(axis=0, ddof=1)
    return returns


def extremes(panel: BarPanel, sessions: int = 250) -> tuple[Row, Row]:
    """(highest high, lowest low) of the newest `sessions` rows, in prices of the newest date."""
    return np.fmax.reduce(panel.high[-sessions:], axis=0), np.fmin.reduce(panel.low[-sessions:], axis=0)


def with_pool_states(panel: BarPanel, sealed: Mask, broken: Mask) -> BarPanel:
    """The panel with the limit states of the exchange-wide pools where they name a code ([dates, codes]
    masks); elsewhere the bar's own state is kept."""
    up = np.where(sealed, 1.0, np.where(broken, 0.0, panel.up))
    up_open = np.where(broken, 1.0, np.where(sealed, 0.0, panel.up_open))
    return replace(panel, up=up, up_open=up_open)


def newest_up(panel: BarPanel, sessions: int = 20, missing: Sequence[int] = ()) -> npt.NDArray[np.int64]:
    """Row of the newest sealed limit-up within the newest sessions, per code; -1 where there is none, or
    where one of the `missing` rows after it might hold another."""
    count = panel.up.shape[0]
    window = panel.up[-sessions:] == 1
    at = count - 1 - np.argmax(window[::-1], axis=0)
    known = window.any(axis=0) & (at > max(missing, default=-1))
    return np.where(known, at, -1).astype(np.int64)


def limit_days(panel: BarPanel, missing: Sequence[int] = ()) -> Row:
    """Consecutive sealed limit-ups up to the newest date, included; dates without trade are passed over. NaN
    where one of the `missing` rows might end them or be one of them."""
    days: Row = limit_streaks(panel.up, len(panel.up))[-1]
    unknown = np.zeros(len(days), dtype=bool)
    for row in missing:
        unknown |= np.isnan(panel.up[row]) & ~(panel.up[row + 1 :] == 0).any(axis=0)
    return np.where(unknown & (days > 0), np.nan, days)


def count_up(panel: BarPanel, sessions: int = 20) -> Row:
    """Sealed limit-ups within the newest sessions."""
    counts: Row = np.nansum(panel.up[-sessions:], axis=0)
    return counts


def count_broken(panel: BarPanel, sessions: int = 5) -> Row:
    """Sessions on which the limit was touched and not held."""
    counts: Row = np.nansum(panel.up_open[-sessions:], axis=0)
    return counts
