"""Changes of price after an event: known only once their session has closed, filled from our own bars."""

from collections.abc import Mapping

import pandas as pd

from core.declaration.scope import Context

CLOSE_TIME = "15:00"


def add_changes_after(rows: pd.DataFrame, context: Context, steps: Mapping[str, int]) -> pd.DataFrame:
    """Each column of `steps`: percent from the close of a row's date to that of so many trade dates later,
    ex-rights taken out. A value of a source is kept; without one it is computed from the bars. What lies
    after the time of the run is null, also where a source has a value."""
    ends = {
        (str(day), count): closed_after(context, str(day), count)
        for day in rows["date"].unique()
        for count in set(steps.values())
    }
    closes = _closes(rows, context, [day for day in ends.values() if day])
    for column, count in steps.items():
        end = rows["date"].map({day: last for (day, asked), last in ends.items() if asked == count})
        first = _at(closes, rows["code"], rows["date"])
        last = _at(closes, rows["code"], end)
        reported = rows[column].astype(float) if column in rows else pd.Series(float("nan"), index=rows.index)
        rows[column] = reported.fillna((last / first - 1) * 100).where(end.notna())
    return rows


def closed_after(context: Context, day: str, count: int) -> str | None:
    """The trade date `count` after `day`, when its session has closed at the run."""
    if not context.calendar.is_trade_date(day):
        return None
    coming = context.calendar.between(day, min(context.today, context.calendar.horizon))
    if len(coming) <= count or context.now[:16] < f"{coming[count]} {CLOSE_TIME}":
        return None
    return coming[count]


def _closes(rows: pd.DataFrame, context: Context, ends: list[str]) -> pd.Series:
    """Closes by code and date in prices of one scale."""
    columns = ("code", "date", "close", "adj_factor")
    codes = sorted(set(rows["code"]))
    if not ends:
        return pd.Series(dtype=float, index=pd.MultiIndex.from_arrays([[], []], names=["code", "date"]))
    bars = context.read(
        "fusion_kline_daily", columns=columns, codes=codes, since=min(rows["date"]), until=max(ends)
    )
    return (bars["close"] * bars["adj_factor"]).set_axis(pd.MultiIndex.from_frame(bars[["code", "date"]]))


def _at(closes: pd.Series, codes: pd.Series, dates: pd.Series) -> pd.Series:
    requested = pd.MultiIndex.from_arrays([codes, dates])
    return pd.Series(closes.reindex(requested).to_numpy(dtype=float), index=codes.index)
