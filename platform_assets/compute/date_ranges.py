"""A range of dates in as few passes as its windows allow.

A date is calculated from a window of bars that ends with it. Dates whose windows begin at the same bars of
every code are one stretch: a walk over the longest of these windows passes the newest bar of each of them, in
the state in which a walk over that window alone would end. Nothing of a later bar is in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints
from core.market.bars import Bars

MOST_ROWS = 50_000
"""Rows of one stretch: what a pass holds of all columns at once stays below 30 MB."""
_DAYS = 100_000_000
"""Above every yyyymmdd: sets codes apart in one ascending array."""


@dataclass(frozen=True)
class Stretch:
    """`days` (yyyymmdd, ascending) with the bars from the begin of their windows on; `rows` [requested] are
    the rows of `bars` on these days, by code and day."""

    days: tuple[int, ...]
    bars: Bars
    rows: Ints

    @cached_property
    def newest(self) -> int:
        """So many of each code's newest bars contain all requested rows."""
        return int(self.bars.from_end[self.rows].max(initial=0))

    @cached_property
    def codes(self) -> npt.NDArray[np.object_]:
        """[requested] code of each row."""
        return np.array(self.bars.codes, dtype=object)[self.bars.owner[self.rows]]

    @cached_property
    def dates(self) -> npt.NDArray[np.object_]:
        """[requested] date of each row as ISO text."""
        texts = {day: f"{day // 10_000}-{day // 100 % 100:02}-{day % 100:02}" for day in self.days}
        return np.array([texts[day] for day in self.bars.date[self.rows].tolist()], dtype=object)

    @cached_property
    def close(self) -> Floats:
        """[requested] closes, CNY, unadjusted."""
        return self.bars.close[self.rows]

    def places(self, newest: int) -> Ints:
        """[requested] where each row lies among those of `bars.newest(newest)`."""
        return (np.cumsum(self.bars.from_end <= newest) - 1)[self.rows]

    def of(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Reduces columns for the rows of `bars.newest(self.newest)` to the requested ones."""
        places = self.places(self.newest)
        return {name: column[places] for name, column in values.items()}


def stretches(
    bars: Bars, days: Sequence[int], least: int, since: Sequence[int] | None = None
) -> Iterator[Stretch]:
    """The `days` (yyyymmdd, ascending) as stretches. The window of a day holds the bars of the codes that
    traded on it, from its own day of `since` on, or their last `least` bars where these are more; without
    `since` their last `least` bars."""
    if not len(bars) or not len(days):
        return
    starts, ends, traded = _windows(bars, np.asarray(days, dtype=np.int64), least, since)
    begins = np.full(len(bars.codes), -1, dtype=np.int64)
    first, rows = 0, 0
    for at in range(len(days)):
        own = traded[:, at]
        moved = own & (begins >= 0) & (begins != starts[:, at])
        if at > first and (moved.any() or rows + own.sum() > MOST_ROWS):
            yield from _stretch(bars, days[first:at], begins, ends[:, at - 1])
            begins, first, rows = np.full(len(bars.codes), -1, dtype=np.int64), at, 0
        begins = np.where(own & (begins < 0), starts[:, at], begins)
        rows += int(own.sum())
    yield from _stretch(bars, days[first:], begins, ends[:, -1])


def _windows(
    bars: Bars, days: Ints, least: int, since: Sequence[int] | None
) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """[codes, days] first row of each window, the row after its last, whether the code traded on the day."""
    ordered = bars.owner * _DAYS + bars.date
    front = (np.arange(len(bars.codes)) * _DAYS)[:, None]
    ends = np.searchsorted(ordered, front + days, side="right")
    traded = (ends > bars.offsets[:-1, None]) & (bars.date[np.maximum(ends - 1, 0)] == days)
    starts = ends - least
    if since is not None:
        near = np.searchsorted(ordered, front + np.asarray(since, dtype=np.int64), side="left")
        starts = np.minimum(starts, near)
    return np.maximum(starts, bars.offsets[:-1, None]), ends, traded


def _stretch(bars: Bars, days: Sequence[int], begins: Ints, ends: Ints) -> Iterator[Stretch]:
    """The rows from each code's begin (-1: it traded on none of the days) to its end."""
    at = np.arange(len(bars))
    begin = begins[bars.owner]
    keep = (begin >= 0) & (at >= begin) & (at < ends[bars.owner])
    held = bars if keep.all() else bars.where(keep)
    if len(held):
        yield Stretch(tuple(days), held, np.flatnonzero(np.isin(held.date, np.array(days))))
