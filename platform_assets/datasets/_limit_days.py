"""Limits of the whole market by date, from stored bars and names, and from the stored pools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.declaration.conditions import equal
from core.market.bars import on_dates
from core.market.names import is_st
from platform_assets.compute.limit_days import LimitCounts, LimitWindow, count_limits
from platform_assets.compute.name_spans import named
from platform_assets.compute.parameters.market_phase import STREAK_DAYS
from resources.upstreams.fetch_context import FetchContext

_COLUMNS = ("close", "high", "low", "limit_up", "limit_down", "change_pct", "volume", "amount")
_AT_ONCE = 60
"""Dates that are read and counted together."""
POOLS = ("up", "down", "broken")


@dataclass(frozen=True)
class LimitDays:
    """Some dates of the market; `dates` begin with those that streaks are counted over, `first` is the place
    of the first one that was asked for."""

    dates: tuple[str, ...]
    first: int
    codes: npt.NDArray[np.str_]
    window: LimitWindow
    special: npt.NDArray[np.bool_]
    """[codes, dates] under special treatment; looked up for codes at a limit."""

    @property
    def counts(self) -> LimitCounts:
        return count_limits(self.window, self.special)

    def codes_of(self, limit: npt.NDArray[np.bool_], at: int) -> set[str]:
        """Codes of a mask of the window on one of its dates."""
        return set(self.codes[limit[:, at]].tolist())


def limit_days(ctx: FetchContext, dates: Sequence[str]) -> Iterator[LimitDays]:
    """The market on consecutive trade dates, some at a time."""
    spans = ctx.read("ref_name_history", columns=("code", "valid_from", "valid_to", "name", "is_st"))
    for start in range(0, len(dates), _AT_ONCE):
        asked = list(dates[start : start + _AT_ONCE])
        before = ctx.calendar.last(STREAK_DAYS + 1, asked[0])[:-1]
        yield _read(ctx, (*before, *asked), len(before), spans)


def _read(ctx: FetchContext, dates: tuple[str, ...], first: int, spans: pd.DataFrame) -> LimitDays:
    dense = ctx.panel(
        "fusion_kline_daily",
        columns=_COLUMNS,
        since=dates[0],
        until=dates[-1],
        conditions=(equal("sec_type", "stock"),),
    )
    window = LimitWindow(**on_dates(dense, dates))
    codes = np.array(dense.codes, dtype=str)
    special = np.zeros(window.up.shape, dtype=bool)
    rows, columns = np.nonzero(window.at_limit)
    if len(rows):
        touched = pd.DataFrame({"code": codes[rows], "date": np.array(dates)[columns]})
        special[rows, columns] = named(touched, spans).special == 1
    return LimitDays(dates, first, codes, window, special)


def pool_rows(ctx: FetchContext, since: str, until: str) -> pd.DataFrame:
    """The stored pools: trade_date, pool, code, name, change_pct, limit_days."""
    return ctx.read(
        "raw_limit_pool",
        columns=("trade_date", "pool", "code", "name", "change_pct", "limit_days"),
        since=since,
        until=until,
    )


def pool_codes(rows: pd.DataFrame, day: str) -> dict[str, set[str]] | None:
    """Pool -> its codes on a date; None where no pool of the date is stored."""
    of_day = rows[rows["trade_date"] == day]
    if of_day.empty:
        return None
    return {pool: set(of_day.loc[of_day["pool"] == pool, "code"]) for pool in POOLS}


def pool_measures(rows: pd.DataFrame, day: str, before: str | None = None) -> dict[str, float]:
    """Measures of a date from its pools, for stocks that are not under special treatment, by the column names
    of the market phase; without those that the pools do not determine."""
    today, earlier = (_plain(rows[rows["trade_date"] == one]) for one in (day, before))
    if today.empty:
        return {}
    codes = {pool: set(today.loc[today["pool"] == pool, "code"]) for pool in POOLS}
    boards = today.loc[today["pool"] == "up", "limit_days"].astype(float).max()
    reported = {
        "limit_up_count": float(len(codes["up"])),
        "limit_down_count": float(len(codes["down"])),
        "broken_count": float(len(codes["broken"])),
        "max_limit_days": float(boards) if codes["up"] else 0.0,
    }
    ups = set(earlier.loc[earlier["pool"] == "up", "code"])
    if ups:
        reported["promotion_rate_pct"] = len(ups & codes["up"]) / len(ups) * 100
    after = today.loc[today["pool"] == "prev", "change_pct"].astype(float)
    if after.notna().any():
        reported["prev_limit_up_avg_pct"] = float(after.mean())
    return reported


def _plain(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows["name"].map(is_st).astype(bool)]
