"""Daily figures of many stocks as matrices, made alike of the sample market and of real files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from simulated_market.world.full import SyntheticWorld
from simulated_market.world.indices import INDICES

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MARKET = 5_500
"""Stocks of the whole market, to which counts of limits are scaled."""
_WIDEST = 0.305
"""The widest limit with its rounding; a first day of 44 % is a listing and no ordinary day."""
_BEYOND = 0.008
_TOLERANCE = 0.003
"""By how much a close at its limit may miss it in adjusted prices, as a fraction."""


@dataclass(frozen=True)
class Panel:
    """Rows are stocks, columns trade dates (`YYYYMMDD`). NaN where a stock did not trade.

    `change` against the reference price, `amplitude` (high - low) / reference price and `turnover` of the
    float are fractions; `turnover` has no column where the files do not have it. `up`, `down`: closed at the
    limit; `broken`: touched the upper one and closed below it.
    """

    name: str
    dates: npt.NDArray[np.int64]
    change: Floats
    amplitude: Floats
    turnover: Floats | None
    up: Bools
    down: Bools
    broken: Bools
    broad: bool = True
    """Whether the stocks are a cross-section: the members of an index are not."""

    @cached_property
    def traded(self) -> npt.NDArray[np.int64]:
        """Stocks with a change, by date."""
        return np.isfinite(self.change).sum(axis=0)

    @cached_property
    def breadth(self) -> Floats:
        """Share of rising stocks among those that traded, by date."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.change > 0).sum(axis=0) / np.maximum(self.traded, 1), dtype=np.float64)

    def years(self) -> "list[Panel]":
        """A panel for each calendar year with at least 200 sessions."""
        parts = []
        for year in np.unique(self.dates // 10_000).tolist():
            at = self.dates // 10_000 == year
            if at.sum() < 200:
                continue
            cut = {
                name: getattr(self, name)[:, at] for name in ("change", "amplitude", "up", "down", "broken")
            }
            turnover = None if self.turnover is None else self.turnover[:, at]
            parts.append(
                Panel(f"{self.name}, {year}", self.dates[at], turnover=turnover, broad=self.broad, **cut)
            )
        return parts

    def per_market(self, flags: Bools) -> Floats:
        """Stocks with a flag by date, as if the market had `MARKET` of them."""
        return np.asarray(flags.sum(axis=0) / np.maximum(self.traded, 1) * MARKET, dtype=np.float64)

    @cached_property
    def ladders(self) -> npt.NDArray[np.int64]:
        """Limit-ups in a row of the highest stock, by date; a suspended stock keeps its height."""
        height = np.zeros(len(self.change), dtype=np.int64)
        highest = []
        for day in range(self.change.shape[1]):
            seen = np.isfinite(self.change[:, day])
            height = np.where(seen, np.where(self.up[:, day], height + 1, 0), height)
            highest.append(int(height.max(initial=0)))
        return np.asarray(highest)


def sample_panel(world: SyntheticWorld) -> Panel:
    """The stocks of a synthetic world; days without a price limit count as no trading."""
    world_bars = world.world_bars
    rows = slice(0, sum(1 for plan in world.plans if plan.board))
    close, reference = (
        world_bars.close[rows].astype(float),
        np.maximum(world_bars.preclose[rows].astype(float), 1),
    )
    bound = world_bars.traded[rows] & (world_bars.limit_up[rows] > 0)
    bound &= np.abs(close - reference) <= _WIDEST * reference
    floating = np.ones(bound.shape)
    for row in range(len(bound)):
        for one in world_bars.shares[row]:
            floating[row, one.day :] = one.floating
    up = bound & (world_bars.close[rows] == world_bars.limit_up[rows])
    return Panel(
        name=f"sample {world.profile.name}",
        dates=world_bars.dates,
        change=np.where(bound, close / reference - 1, np.nan),
        amplitude=np.where(bound, (world_bars.high[rows] - world_bars.low[rows]) / reference, np.nan),
        turnover=np.where(bound, world_bars.volume[rows] / floating, np.nan),
        up=up,
        down=bound & (world_bars.close[rows] == world_bars.limit_down[rows]),
        broken=bound & (world_bars.high[rows] == world_bars.limit_up[rows]) & ~up,
    )


def sample_indices(world: SyntheticWorld) -> dict[str, Floats]:
    """Closing levels by code of the broad indices, from the level before the first session on."""
    world_bars, first = world.world_bars, len(world.plans)
    return {
        one.code: np.concatenate([world_bars.preclose[first + at, :1], world_bars.close[first + at]]).astype(
            float
        )
        for at, one in enumerate(INDICES)
    }


def real_panel(name: str, frame: pd.DataFrame, *, broad: bool = True) -> Panel:
    """Of rows with date, code, high, low, close and perhaps reference, turnover (fractions) and st.

    Without a `reference` the close before is used. A limit is met where the close lies within 0.3 % of
    the board's band and is the highest (lowest) price of the day. A change beyond the band is no trading day.
    """
    wide = {
        column: frame.pivot_table(index="code", columns="date", values=column, aggfunc="last")
        for column in ("close", "high", "low", "reference", "turnover", "st")
        if column in frame
    }
    codes = wide["close"].index.astype(str)
    close = wide["close"].to_numpy(dtype=float)
    high, low = (wide[side].to_numpy(dtype=float) for side in ("high", "low"))
    if "reference" in wide:
        reference = wide["reference"].to_numpy(dtype=float)
    else:
        filled = wide["close"].ffill(axis=1).to_numpy(dtype=float)
        reference = np.concatenate([np.full((len(filled), 1), np.nan), filled[:, :-1]], axis=1)
    change = close / reference - 1
    st = (
        wide["st"].fillna(0).to_numpy(dtype=float) > 0 if "st" in wide else np.zeros(change.shape, dtype=bool)
    )
    wide_board = np.asarray([code[-6:].startswith(("300", "301", "302", "688", "689")) for code in codes])
    band = np.where(st, 0.05, np.where(wide_board, 0.20, 0.10)[:, None])
    with np.errstate(invalid="ignore"):
        bound = np.abs(change) <= band + _BEYOND  # the others are free sessions and events
        change = np.where(bound, change, np.nan)
        at_top, at_bottom = close >= high, close <= low
        up = (change >= band - _TOLERANCE) & at_top
        down = (change <= -band + _TOLERANCE) & at_bottom
        broken = bound & (high / reference - 1 >= band - _TOLERANCE) & ~up
    return Panel(
        name=name,
        dates=np.asarray([int(str(day).replace("-", "")) for day in wide["close"].columns], dtype=np.int64),
        change=change,
        amplitude=np.where(bound, (high - low) / reference, np.nan),
        turnover=wide["turnover"].to_numpy(dtype=float) if "turnover" in wide else None,
        up=up,
        down=down,
        broken=broken,
        broad=broad,
    )


def read(path: Path, **options: Any) -> pd.DataFrame:
    return pd.read_csv(path, **options)
