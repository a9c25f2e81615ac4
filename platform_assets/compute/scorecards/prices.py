"""Bars of some codes on consecutive market dates, dense: what forward returns are looked up in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from core.arrays import Bools, Floats
from core.market.bars import Dense, on_dates
from platform_assets.compute.loaded import known_dates
from platform_assets.compute.nan_arithmetic import filled_factor

COLUMNS = ("open", "high", "low", "close", "adj_factor", "limit_up")
"""Of a stored bar. Prices are CNY as traded."""


@dataclass(frozen=True)
class Prices:
    """Arrays [codes, dates] in CNY as traded; `factor` is the cumulative backward factor, a missing one that
    of the bar before. NaN where a code did not trade, or a column was not read. `dates` are consecutive
    market dates, ISO text."""

    codes: tuple[str, ...]
    dates: tuple[str, ...]
    loaded: Bools
    """[dates] whether the market's bars are there. Not derived from the codes of `Prices`: all may be
    suspended."""
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    factor: Floats
    limit_up: Floats

    @classmethod
    def from_frame(cls, rows: pd.DataFrame, dates: Sequence[str], loaded: Bools) -> "Prices":
        """Builds prices from stored bars (code, date, `COLUMNS`, is_suspended where it is there). Rows of
        other dates, and days without trade, are left out."""
        if "is_suspended" in rows.columns:
            rows = rows[~rows["is_suspended"].fillna(value=False).astype(bool)]
        rows = rows[rows["date"].isin(list(dates))]
        codes, code_at = np.unique(rows["code"].to_numpy(dtype=str), return_inverse=True)
        day_at = rows["date"].map({day: at for at, day in enumerate(dates)}).to_numpy(dtype=np.int64)

        def block(name: str) -> Floats:
            values = np.full((len(codes), len(dates)), np.nan)
            if name in rows.columns:
                values[code_at, day_at] = rows[name].to_numpy(dtype=np.float64, na_value=np.nan)
            return values

        return cls._made(codes.tolist(), dates, {name: block(name) for name in COLUMNS}, loaded)

    @classmethod
    def from_dense(cls, dense: Dense, dates: Sequence[str], loaded: Bools | None = None) -> "Prices":
        """Builds prices from a window of the whole market's bars, read without the days on which a code did
        not trade. Without `loaded`, it is derived from the window, which must cover all the dates."""
        reported = on_dates(dense, dates)
        shape = (len(dense.codes), len(dates))
        blocks = {name: reported[name] if name in reported else np.full(shape, np.nan) for name in COLUMNS}
        if loaded is None:
            loaded = known_dates(np.isfinite(blocks["close"]).sum(axis=0))
        return cls._made(dense.codes, dates, blocks, loaded)

    @classmethod
    def _made(
        cls, codes: Sequence[str], dates: Sequence[str], blocks: dict[str, Floats], loaded: Bools
    ) -> "Prices":
        factor = blocks["adj_factor"]
        gaps = np.isfinite(blocks["close"]) & ~np.isfinite(factor)
        for at in np.flatnonzero(gaps.any(axis=1)).tolist():
            factor[at] = filled_factor(factor[at])
        return cls(tuple(codes), tuple(dates), loaded, *(blocks[name] for name in COLUMNS))

    @cached_property
    def code_at(self) -> dict[str, int]:
        return {code: at for at, code in enumerate(self.codes)}

    @cached_property
    def day_at(self) -> dict[str, int]:
        return {day: at for at, day in enumerate(self.dates)}

    @cached_property
    def newest(self) -> int:
        """Place of the last date that is loaded: the market's newest close. -1 where none is."""
        places = np.flatnonzero(self.loaded)
        return int(places[-1]) if len(places) else -1


@dataclass(frozen=True)
class Benchmark:
    """Open and close of an index on the dates of `Prices`, in points; NaN where it has no bar."""

    open: Floats
    close: Floats

    @classmethod
    def of(cls, bars: Mapping[str, tuple[float | None, float | None]], dates: Sequence[str]) -> "Benchmark":
        """Builds prices from {date: (open, close)}."""
        found = np.array([bars.get(day, (None, None)) for day in dates], dtype=np.float64).reshape(-1, 2)
        return cls(found[:, 0], found[:, 1])
