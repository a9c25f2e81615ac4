"""Week, month, quarter and year bars from shorter ones. Pure pandas."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

PERIODS = ("week", "month", "quarter", "year")
_FREQUENCY = {"week": "W-SUN", "month": "M", "quarter": "Q", "year": "Y"}


def period_ends(dates: Sequence[str], trade_dates: Sequence[str], period: str) -> list[str]:
    """The last trade date of the period that each date lies in. `trade_dates` must reach beyond the
    newest period's end, or up to the calendar's horizon."""
    last = _grouped(trade_dates, period).max()
    return [str(day) for day in last.reindex(_periods(dates, period))]


def period_starts(dates: Sequence[str], trade_dates: Sequence[str], period: str) -> list[str]:
    """The first trade date of the period that each date lies in."""
    first = _grouped(trade_dates, period).min()
    return [str(day) for day in first.reindex(_periods(dates, period))]


def _periods(dates: Sequence[str], period: str) -> Any:
    return pd.PeriodIndex(pd.to_datetime(list(dates)), freq=_FREQUENCY[period])


def _grouped(trade_dates: Sequence[str], period: str) -> Any:
    return pd.Series(list(trade_dates), index=_periods(trade_dates, period)).groupby(level=0)


def resample(bars: pd.DataFrame, ends: Sequence[str]) -> pd.DataFrame:
    """Bars of one period each; `last_date` is the newest day with a bar inside. `bars`: code, date,
    last_date? (default: date), open, high, low, close, volume, amount, turnover_pct,
    growth (close / reference of the bar), bar_count; `ends` the period end of each row. One bar whose growth
    or turnover is not known leaves that of its period unknown."""
    rows = bars.assign(end=list(ends)).sort_values(["code", "date"])
    if "last_date" not in rows:
        rows["last_date"] = rows["date"]
    groups = rows.groupby(["code", "end"], sort=True)
    out = groups.agg(
        open=("open", "first"),
        close=("close", "last"),
        high=("high", "max"),
        low=("low", "min"),
        volume=("volume", "sum"),
        amount=("amount", "sum"),
        turnover_pct=("turnover_pct", lambda rates: rates.sum(min_count=len(rates))),
        bar_count=("bar_count", "sum"),
        last_date=("last_date", "max"),
        growth=("growth", "prod"),
        known=("growth", "count"),
        bars=("growth", "size"),
    ).reset_index()
    whole = out.pop("known") == out.pop("bars")
    out["change_pct"] = (out.pop("growth").where(whole) - 1) * 100
    return out.rename(columns={"end": "date"})


def growth_of(bars: pd.DataFrame) -> pd.Series:
    """Close over the day's reference price: multiplies through ex-dates. NaN where that is not known."""
    return bars["close"] / bars["last_close"].where(bars["last_close"] > 0)
