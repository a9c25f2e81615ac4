"""Columns of the wide row from a year of bars: changes, extremes and limit streaks, corrected by the limit
pools where those name a stock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.declaration.rules import Needed
from core.declaration.scope import Scope
from platform_assets.compute import wide_stats
from resources.upstreams.fetch_context import FetchContext

WINDOW = 251
"""Sessions of bars behind a row: a year of changes and the 52-week extremes."""
POOL_SESSIONS = 20
"""Sessions that a limit-up counts for."""
STATS = (
    *("chg_3d", "chg_5d", "chg_10d", "chg_20d", "chg_60d", "chg_120d", "chg_1y", "chg_ytd"),
    *("high_52w", "low_52w", "ma5_dev_pct", "ma20_dev_pct", "vol_accel_5_5", "volatility_20d"),
    *("limit_up_count_20d", "break_fail_days_5d"),
)
ADJUSTED = (*STATS[: STATS.index("vol_accel_5_5")], "volatility_20d")
"""Those that look at adjusted prices."""
NEEDS = (
    Needed("fusion_kline_daily", ("high_52w", "low_52w"), WINDOW - 1),
    Needed("fusion_kline_daily", ("ma5_dev_pct", "break_fail_days_5d"), 5),
    Needed("fusion_kline_daily", ("vol_accel_5_5",), 10),
    Needed("fusion_kline_daily", ("ma20_dev_pct", "limit_up_count_20d"), POOL_SESSIONS),
    Needed("fusion_kline_daily", ("volatility_20d",), POOL_SESSIONS + 1),
)
"""Those that a missing date of bars inside their sessions would make wrong. Changes are of two closes;
streaks and the newest limit-up are known where no missing date could go on with them."""
POOL = {"limit_days_today": "limit_days", "zt_stat_latest": "zt_stat", "seal_fund_latest": "seal_fund"}


_COLUMNS = ("code", "date", "close", "high", "low", "volume", "limit_status", "adj_factor")


def bars_of(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The bars that the rows of a scope's dates look at, read once for all of them."""
    since = ctx.calendar.last(WINDOW, scope.since)[0]
    bars: pd.DataFrame = ctx.read(
        "fusion_kline_daily",
        columns=_COLUMNS,
        codes=scope.codes,
        since=since,
        until=scope.until,
        noted=scope.dates,
    )
    return bars.sort_values("date", kind="stable")


def stats(ctx: FetchContext, day: str, codes: tuple[str, ...] | None, stored: pd.DataFrame) -> pd.DataFrame:
    """The figures of one date from `stored` bars, those after it left out."""
    dates = ctx.calendar.last(WINDOW, day)
    first, end = stored["date"].searchsorted(dates[0]), stored["date"].searchsorted(day, side="right")
    bars = stored.iloc[first:end]
    names = sorted(set(bars["code"]))
    pools = _Pools.of(ctx, dates, names, codes)
    panel = wide_stats.with_pool_states(_panel(bars, dates, names), pools.sealed, pools.broken)
    held = set(bars["date"]) if codes is None else set(dates)
    missing = [at for at, one in enumerate(dates) if one not in held and one > min(held, default=day)]
    top, bottom = wide_stats.extremes(panel)
    figures = {
        **{f"chg_{n}d": wide_stats.change(panel, n) for n in (3, 5, 10, 20, 60, 120)},
        "chg_1y": wide_stats.change(panel, 250),
        "chg_ytd": wide_stats.change_ytd(panel),
        "high_52w": top,
        "low_52w": bottom,
        "ma5_dev_pct": wide_stats.mean_deviation(panel, 5),
        "ma20_dev_pct": wide_stats.mean_deviation(panel, 20),
        "vol_accel_5_5": wide_stats.volume_acceleration(panel),
        "volatility_20d": wide_stats.volatility(panel),
        "limit_days_today": pools.boards_today(wide_stats.limit_days(panel, missing)),
        "limit_up_count_20d": wide_stats.count_up(panel),
        "break_fail_days_5d": wide_stats.count_broken(panel),
        **pools.newest(wide_stats.newest_up(panel, POOL_SESSIONS, missing)),
    }
    return pd.DataFrame({"code": names, **figures})


@dataclass(frozen=True)
class _Pools:
    """States of a panel's codes in the limit pools of the newest sessions: [dates, codes] masks, and
    the rows of the sealed limit-ups by (row of the date, place of the code)."""

    sealed: wide_stats.Mask
    broken: wide_stats.Mask
    ups: Mapping[tuple[int, int], Any]

    @classmethod
    def of(
        cls, ctx: FetchContext, dates: list[str], names: list[str], codes: tuple[str, ...] | None
    ) -> "_Pools":
        columns = ("code", "trade_date", "pool", *POOL.values())
        rows = ctx.read(
            "raw_limit_pool", columns=columns, codes=codes, since=dates[-POOL_SESSIONS:][0], until=dates[-1]
        )
        line = {day: at for at, day in enumerate(dates)}
        place = {code: at for at, code in enumerate(names)}
        sealed, broken = (np.zeros((len(dates), len(names)), dtype=bool) for _ in range(2))
        ups = {}
        for row in rows[rows["code"].isin(names) & rows["trade_date"].isin(dates)].to_dict("records"):
            at = (line[row["trade_date"]], place[row["code"]])
            if row["pool"] == "up":
                sealed[at] = True
                ups[at] = row
            elif row["pool"] == "broken":
                broken[at] = True
        return cls(sealed, broken & ~sealed, ups)

    def boards_today(self, counted: wide_stats.Row) -> wide_stats.Row:
        """Consecutive boards up to the newest date: as the pool says, else as counted."""
        days = counted.copy()
        for (line, place), row in self.ups.items():
            if line == self.sealed.shape[0] - 1 and pd.notna(row["limit_days"]):
                days[place] = row["limit_days"]
        return days

    def newest(self, at: npt.NDArray[np.int64]) -> dict[str, list[Any]]:
        """Streak and seal fund of the newest limit-up; null where the pools do not hold that one."""
        rows = [self.ups.get((int(line), place), {}) for place, line in enumerate(at)]
        return {
            "zt_stat_latest": [row.get("zt_stat") for row in rows],
            "seal_fund_latest": [row.get("seal_fund") for row in rows],
        }


def _panel(bars: pd.DataFrame, dates: list[str], names: list[str]) -> wide_stats.BarPanel:
    """[dates, codes] arrays; prices taken to the newest date by the cumulative factor."""
    row = np.searchsorted(np.asarray(dates), bars["date"].to_numpy(dtype=str))
    column = np.searchsorted(np.asarray(names), bars["code"].to_numpy(dtype=str))
    shape = (len(dates), len(names))

    def spread(values: Any) -> Any:
        grid = np.full(shape, np.nan)
        grid[row, column] = values
        return grid

    factor = spread(bars["adj_factor"].to_numpy(dtype=float))
    last = np.full(len(names), np.nan)
    for line in factor:
        last = np.where(np.isnan(line), last, line)
    scale = factor / last
    volume = bars["volume"].to_numpy(dtype=float, na_value=np.nan)
    status = bars["limit_status"].to_numpy(dtype=str)
    year = dates[-1][:4]
    earlier = [place for place, day in enumerate(dates) if day[:4] < year]
    return wide_stats.BarPanel(
        close=spread(bars["close"].to_numpy(dtype=float)) * scale,
        high=spread(np.where(volume > 0, bars["high"].to_numpy(dtype=float), np.nan)) * scale,
        low=spread(np.where(volume > 0, bars["low"].to_numpy(dtype=float), np.nan)) * scale,
        volume=spread(np.where(volume > 0, volume, np.nan)),
        up=spread(np.where(volume > 0, status == "up", np.nan)),
        up_open=spread(np.where(volume > 0, status == "up_open", np.nan)),
        year_start=earlier[-1] if earlier else -1,
    )
