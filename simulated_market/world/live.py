"""Intraday states of the bars of a world, made on demand and cached for the few requested moments."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from simulated_market.world import snapshot
from simulated_market.world.bars import WorldBars
from simulated_market.world.engine import volume_step
from simulated_market.world.indices import INDICES
from simulated_market.world.intraday import MINUTES, DayRow, Paths, paths
from simulated_market.world.plan import Plan
from simulated_market.world.session import Progress

_DAYS_KEPT, _MOMENTS_KEPT, _PATHS_KEPT = 2, 4, 512


@dataclass(frozen=True)
class Moment:
    """All instruments at one minute of one session."""

    rows: DayRow
    running: snapshot.Running
    book: snapshot.Book
    usual: npt.NDArray[np.float64]  # shares a minute over the five sessions before
    floating: Ints


def shares_on(world_bars: WorldBars, place: int, day: int) -> tuple[int, int]:
    """(total, float) shares of an instrument in a session; (0, 0) before it exists."""
    found = (0, 0)
    for change in world_bars.shares[place]:
        if change.day > day:
            break
        found = (change.total, change.floating)
    return found


class Live:
    """Paths and moments of the bars of one world. Safe for the threads of a server."""

    def __init__(self, world_bars: WorldBars, plans: Sequence[Plan], seed: int) -> None:
        self._world_bars, self._plans, self._seed = world_bars, plans, seed
        indices = len(INDICES)
        self.units: Ints = np.asarray([p.tick_unit for p in plans] + [100] * indices, dtype=np.int64)
        self.steps: Ints = np.asarray([volume_step(p) for p in plans] + [1] * indices, dtype=np.int64)
        # Draws of the indices stand behind the instruments that they may take; added ones come after them.
        added = sum(1 for one in plans if not one.indexed)
        self._drawn: Ints = np.arange(len(self.units), dtype=np.int64)
        self._drawn[-indices:] -= added
        self._drawn[len(plans) - added : len(plans)] += indices
        self._lock = threading.RLock()
        self._days: OrderedDict[int, tuple[DayRow, Paths]] = OrderedDict()
        self._moments: OrderedDict[tuple[int, int], Moment] = OrderedDict()
        self._single = lru_cache(maxsize=_PATHS_KEPT)(self._one)

    def _rows(self, places: Ints, day: int) -> DayRow:
        columns = {
            name: getattr(self._world_bars, name)[places, day].astype(np.int64)
            for name in (
                "open",
                "high",
                "low",
                "close",
                "preclose",
                "volume",
                "amount",
                "limit_up",
                "limit_down",
            )
        }
        return DayRow(place=self._drawn[places], **columns, unit=self.units[places], step=self.steps[places])

    def _one(self, place: int, day: int) -> tuple[DayRow, Paths]:
        rows = self._rows(np.asarray([place], dtype=np.int64), day)
        return rows, paths(self._seed, day, rows)

    def day_path(self, place: int, day: int) -> tuple[DayRow, Paths]:
        """Row and path of one instrument, arrays of length 1; cut from the whole day when that is at hand."""
        whole = self._days.get(day)
        if whole is None:
            return self._single(place, day)
        rows, path = whole
        one = slice(place, place + 1)
        return (
            DayRow(**{k: v[one] for k, v in vars(rows).items()}),
            Paths(**{k: v[one] for k, v in vars(path).items()}),
        )

    def _whole_day(self, day: int) -> tuple[DayRow, Paths]:
        found = self._days.get(day)
        if found is None:
            rows = self._rows(np.arange(len(self.units), dtype=np.int64), day)
            found = self._days[day] = (rows, paths(self._seed, day, rows))
            while len(self._days) > _DAYS_KEPT:
                self._days.popitem(last=False)
        return found

    def shot(self, at: Progress) -> Moment:
        """The whole market at a moment; one pass for all instruments, then cheap."""
        key = (at.day, at.minutes)
        with self._lock:
            found = self._moments.get(key)
            if found is None:
                found = self._moments[key] = self._make(at)
                while len(self._moments) > _MOMENTS_KEPT:
                    self._moments.popitem(last=False)
        return found

    def _make(self, at: Progress) -> Moment:
        rows, path = self._whole_day(at.day)
        state = snapshot.running(rows, path, at.minutes)
        known = len(self._plans)
        floating = np.zeros(len(self.units), dtype=np.int64)
        floating[:known] = [shares_on(self._world_bars, i, at.day)[1] for i in range(known)]
        book = snapshot.book(self._seed, at.day, at.minutes, rows, state.close, floating)
        week = self._world_bars.volume[:, max(at.day - 5, 0) : at.day]
        usual = week.sum(axis=1) / np.maximum((week > 0).sum(axis=1), 1) / len(MINUTES)
        return Moment(rows, state, book, usual, floating)

    def breadth(self, index: int, at: Progress) -> tuple[int, int]:
        """Members of an index that are up and down at a moment."""
        moment = self.shot(at)
        n = len(self._plans)
        member = (self._world_bars.members[int(self._world_bars.period[at.day])] >> index & 1).astype(bool)
        member &= self._world_bars.traded[:n, at.day]
        change = moment.running.close[:n] - moment.rows.preclose[:n]
        return int((change[member] > 0).sum()), int((change[member] < 0).sum())
