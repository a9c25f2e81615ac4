"""Bars of many codes in ragged form: what the kernels of indicators, patterns, chips and backtests read.

Terminals count traded bars only, so a suspended day has no bar here, and no gap is padded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats, Ints


class Dense(Protocol):
    """A market window as arrays [codes, dates], NaN where a code has no row on a date."""

    @property
    def codes(self) -> tuple[str, ...]: ...

    @property
    def dates(self) -> tuple[str, ...]: ...

    @property
    def values(self) -> dict[str, Floats]: ...


def on_dates(window: Dense, dates: Sequence[str]) -> dict[str, Floats]:
    """The columns of a window as [codes, dates] on the dates asked for, NaN where it has none of one."""
    place = {day: at for at, day in enumerate(dates)}
    held = [at for at, day in enumerate(window.dates) if day in place]
    into = [place[window.dates[at]] for at in held]
    spread = {name: np.full((len(window.codes), len(dates)), np.nan) for name in window.values}
    for name, values in spread.items():
        values[:, into] = window.values[name][:, held]
    return spread


_SAME = ("open", "high", "low", "close", "volume", "amount", "last_close", "limit_up", "limit_down")
_STORED = {**dict(zip(_SAME, _SAME, strict=True)), "factor": "adj_factor", "turnover": "turnover_pct"}
"""Column of `Bars` -> column of the stored bars."""
_MISSING = {"adj_factor": 1.0}
"""Value of a column that was not read, where that is not NaN."""


@dataclass(frozen=True)
class Bars:
    """Rows `offsets[i]` to `offsets[i + 1]` are the traded days of `codes[i]`, oldest first.

    Prices are CNY as traded (unadjusted); `adjusted` gives them times `factor`. What is not known is NaN.
    """

    codes: tuple[str, ...]
    offsets: Ints
    """[len(codes) + 1]"""
    date: Ints
    """yyyymmdd"""
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    """shares"""
    factor: Floats
    """cumulative backward factor, 1.0 at listing"""
    amount: Floats
    """CNY"""
    turnover: Floats
    """percent of the float shares of the day"""
    last_close: Floats
    """ex-right reference price"""
    limit_up: Floats
    """NaN on days without limit, or when it is not known"""
    limit_down: Floats

    def __len__(self) -> int:
        return len(self.date)

    @classmethod
    def empty(cls) -> "Bars":
        """Of no code."""
        columns = {one.name: np.zeros(0) for one in fields(cls) if one.name not in (*_SHAPE, "date")}
        none = np.zeros(0, dtype=np.int64)
        return cls(codes=(), offsets=np.zeros(1, dtype=np.int64), date=none, **columns)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> "Bars":
        """From columns code, date (ISO text or yyyymmdd), open, high, low, close, volume and, where they are
        there, adj_factor, amount, turnover_pct, last_close, limit_up, limit_down, is_suspended; in any order.

        Suspended days and bars without a price are left out.
        """
        rows = frame
        if "is_suspended" in rows.columns:
            rows = rows[~rows["is_suspended"].fillna(value=False).astype(bool)]
        rows = rows[rows[["open", "high", "low", "close"]].notna().all(axis=1)]
        day = rows["date"]
        if not pd.api.types.is_integer_dtype(day):
            day = day.astype(str).str.replace("-", "", regex=False)
        days = day.to_numpy(dtype=np.int64)
        names = rows["code"].to_numpy(dtype=str)
        order = np.lexsort((days, names))
        codes, starts = np.unique(names[order], return_index=True)

        def column(name: str) -> Floats:
            if name not in rows.columns:
                return np.full(len(rows), _MISSING.get(name, np.nan))
            values: Floats = rows[name].to_numpy(dtype=np.float64, na_value=np.nan)
            return values[order]

        return cls(
            codes=tuple(codes.tolist()),
            offsets=np.append(starts, len(rows)).astype(np.int64),
            date=days[order],
            **{name: column(stored) for name, stored in _STORED.items()},
        )

    @classmethod
    def from_dense(cls, dense: Dense) -> "Bars":
        """From a window of the stored bars: values [codes, dates] under the names of `from_frame`, NaN where
        a code did not trade. Only `close` has to be there: a column that was not read is NaN."""
        there = np.isfinite(dense.values["close"])
        counts = there.sum(axis=1)
        held = counts > 0
        days = np.array([int(day.replace("-", "")) for day in dense.dates], dtype=np.int64)

        def column(name: str) -> Floats:
            if name not in dense.values:
                return np.full(int(counts.sum()), _MISSING.get(name, np.nan))
            return dense.values[name][there]

        return cls(
            codes=tuple(code for code, is_held in zip(dense.codes, held.tolist(), strict=True) if is_held),
            offsets=np.concatenate([[0], np.cumsum(counts[held])]).astype(np.int64),
            date=np.broadcast_to(days, there.shape)[there],
            **{name: column(stored) for name, stored in _STORED.items()},
        )

    @cached_property
    def place(self) -> dict[str, int]:
        """Code -> its position in `codes`."""
        return {code: at for at, code in enumerate(self.codes)}

    def rows_of(self, code: str) -> slice:
        """The rows of one code; KeyError when it has none."""
        at = self.place[code]
        return slice(int(self.offsets[at]), int(self.offsets[at + 1]))

    @cached_property
    def last_rows(self) -> Ints:
        """[len(codes)] row of each code's newest bar."""
        return self.offsets[1:] - 1

    @cached_property
    def owner(self) -> Ints:
        """[rows] position in `codes` of the code that each row belongs to."""
        return np.repeat(np.arange(len(self.codes)), np.diff(self.offsets))

    @cached_property
    def from_end(self) -> Ints:
        """[rows] 1 for the newest bar of a code, 2 for the one before it."""
        return np.asarray(self.offsets[1:][self.owner] - np.arange(len(self)), dtype=np.int64)

    def adjusted(self, name: str) -> Floats:
        """A price column times the cumulative factor: comparable along a code's history. Divide price-scale
        results by the factor of their own date to get what was seen on that date."""
        raw: Floats = getattr(self, name)
        return raw * self.factor

    def where(self, keep: npt.NDArray[np.bool_]) -> "Bars":
        """The rows that a mask [rows] keeps; a code without any is left out."""
        counts = np.bincount(self.owner[keep], minlength=len(self.codes))
        there = counts > 0
        columns = {one.name: getattr(self, one.name)[keep] for one in fields(self) if one.name not in _SHAPE}
        return replace(
            self,
            codes=tuple(code for code, is_there in zip(self.codes, there.tolist(), strict=True) if is_there),
            offsets=np.concatenate([[0], np.cumsum(counts[there])]).astype(np.int64),
            **columns,
        )

    def preceded(self, older: "Bars") -> "Bars":
        """With the bars of `older` in front of those of the same code; other codes of it are left out."""
        older = older.take(self.codes)
        at = np.repeat([self.offsets[self.place[code]] for code in older.codes], np.diff(older.offsets))
        added = np.zeros(len(self.codes), dtype=np.int64)
        added[[self.place[code] for code in older.codes]] = np.diff(older.offsets)
        columns: dict[str, Any] = {
            one.name: np.insert(getattr(self, one.name), at.astype(np.int64), getattr(older, one.name))
            for one in fields(self)
            if one.name not in _SHAPE
        }
        offsets = self.offsets + np.concatenate([[0], np.cumsum(added)])
        return replace(self, offsets=offsets.astype(np.int64), **columns)

    def around(
        self,
        known: npt.NDArray[np.bool_],
        newest: int | None,
        make: "Callable[[Bars, int | None], Mapping[str, Floats]]",
        nothing: Mapping[str, float] | None = None,
    ) -> dict[str, Floats]:
        """`make(bars, newest)` of the rows that `known` [rows] keeps, as if the others were not there, on the
        rows of `self` (of `newest(newest)`). Rows that are not known hold NaN, or what `nothing` says."""
        requested = np.ones(len(self), dtype=np.bool_) if newest is None else self.from_end <= newest
        there = self.where(known)
        made = make(there, newest)
        at = np.flatnonzero(known)
        at = at if newest is None else at[there.from_end <= newest]
        columns: dict[str, Floats] = {}
        for name, values in made.items():
            spread = np.full((len(self), *values.shape[1:]), (nothing or {}).get(name, np.nan))
            spread[at] = values
            columns[name] = spread[requested]
        return columns

    def until(self, day: int) -> "Bars":
        """What was there at the close of `day` (yyyymmdd)."""
        return self.where(self.date <= day)

    def newest(self, count: int) -> "Bars":
        """The last `count` bars of each code."""
        return self.where(self.from_end <= count)

    def take(self, codes: Sequence[str]) -> "Bars":
        """The bars of some codes; unknown ones are left out."""
        requested = np.isin(np.array(self.codes, dtype=str), np.array(list(codes), dtype=str))
        return self.where(requested[self.owner])


_SHAPE = frozenset({"codes", "offsets"})
