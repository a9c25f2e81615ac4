"""The window of bars that the daily calculations of the whole market share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from platform_assets.compute.bars import Bars, Floats, Ints
from platform_assets.declaration.scope import Scope

BARS = "fusion_kline_daily"
INDEX = "fusion_index_daily"
BENCHMARK = "sh000300"
WINDOW_DATES = 400
"""Trade dates that a date is calculated from, its own included. Kernels need 320 bars; the rest is room for
suspensions. Fixed, so that a date comes out the same alone and within a range."""
_STOCKS = "sec_type='stock' AND is_suspended=0"
_COLUMNS = (
    "open", "high", "low", "close", "volume", "amount", "turnover_pct", "adj_factor", "last_close",
    "limit_up", "limit_down",
)  # fmt: skip


def number(day: str) -> int:
    """2026-08-21 -> 20260821."""
    return int(day.replace("-", ""))


def bars_at(desk: Any, scope: Scope, day: str) -> Bars:
    """The window of `day` of the stocks that traded on it, of the scope's codes where it names some. Read
    once for all tables and dates of a run."""
    since, until = desk.calendar.offset(scope.since, 1 - WINDOW_DATES), scope.until
    key = ("window of bars", since, until, scope.codes)

    def make(view: Any) -> Bars:
        dense = view.panel(BARS, columns=_COLUMNS, since=since, until=until, condition=_STOCKS)
        bars = Bars.from_dense(dense)
        return bars if scope.codes is None else bars.take(scope.codes)

    return _traded_on(desk.once(key, make), desk, day)


def _traded_on(bars: Bars, desk: Any, day: str) -> Bars:
    since, until = number(desk.calendar.offset(day, 1 - WINDOW_DATES)), number(day)
    window = bars
    if len(bars) and (bars.date.min() < since or bars.date.max() > until):
        window = bars.where((bars.date >= since) & (bars.date <= until))
    there = window.date[window.last_rows] == until if window.codes else np.zeros(0, dtype=bool)
    return window if there.all() else window.where(there[window.owner])


def index_closes(desk: Any, scope: Scope) -> tuple[Ints, Floats]:
    """(yyyymmdd, closes) of the CSI 300 over the windows of a scope's dates, oldest first."""
    since = desk.calendar.offset(scope.since, 1 - WINDOW_DATES)

    def make(view: Any) -> pd.DataFrame:
        rows = view.read(INDEX, columns=("date", "close"), codes=(BENCHMARK,), since=since, until=scope.until)
        return pd.DataFrame(rows).dropna().sort_values("date")

    rows = desk.once(("benchmark", since, scope.until), make)
    days = rows["date"].astype(str).str.replace("-", "", regex=False).to_numpy(dtype=np.int64)
    return days, rows["close"].to_numpy(dtype=np.float64)


def rows_of(desk: Any, bars: Bars, day: str, values: Mapping[str, Floats]) -> pd.DataFrame:
    """code, date and close of each code's newest bar with the columns calculated for it. The close is read
    as stored, so that the batch notes what it was made from also when the window was shared."""
    stored = desk.read(BARS, columns=("code", "close"), codes=None, since=day, until=day)
    rows = pd.DataFrame({"code": bars.codes, "date": day, **values})
    return rows.merge(stored, on="code", how="left")


def joined(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """The rows of several dates; empty with the columns of the table where there are none."""
    held = [frame for frame in frames if len(frame)]
    return pd.concat(held, ignore_index=True) if held else pd.DataFrame(columns=columns)
