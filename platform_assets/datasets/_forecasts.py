"""Whether a research report's target and earnings may be those of its stock, by the stored closes."""

import pandas as pd

from core.declaration.scope import Context

RESEARCH = "research"
_CLOSES_BACK = 6
_FAR = 5.0
_OTHER_PRICE = 1.5
"""A report may be older than its publication, but its price hardly half as much again."""
_HALF_FEN = 0.005
_LEFT = 5
"""Hardly a forecast takes four fifths of the profit away within a year."""


def forecast_fits_the_price(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A target and earnings a share that could be those of a stock at its newest stored close."""
    since = context.calendar.last(_CLOSES_BACK, context.scope.since)[0]
    columns = ("code", "date", "close")
    stored = context.read("fusion_kline_daily", columns=columns, since=since, until=context.scope.until)
    newest = stored.dropna(subset=["close"]).sort_values("date").drop_duplicates("code", keep="last")
    close = (
        rows["code"].map(dict(zip(newest["code"], newest["close"].astype(float), strict=True))).astype(float)
    )
    target, earned = rows["target_price"].astype(float), rows["eps_fy1"].astype(float)
    off = (target > _FAR * close) | ((target > 0) & (target * _FAR < close)) | (earned.abs() > close)
    return ~off


def earnings_make_the_price(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Earnings per share times the P/E reported with them are a price of the days before the report, and the
    year after leaves more than a fifth of them. Either shows a P/E in the place of the earnings."""
    fine = pd.Series(True, index=rows.index)
    reports = rows[(rows["news_type"] == RESEARCH) & rows["eps_fy1"].notna()]
    if reports.empty:
        return fine
    days = reports["pub_time"].str[:10]
    columns = ("code", "pdf_url", "pe_fy1")
    reported = context.read("raw_reports", columns=columns, since=days.min(), until=days.max())
    reported = reported.drop_duplicates(["code", "pdf_url"]).rename(columns={"pdf_url": "url"})
    ratio = reports[["code", "url"]].merge(reported, how="left", on=["code", "url"])["pe_fy1"]
    ratio = ratio.astype(float).abs().set_axis(reports.index)
    earned = reports["eps_fy1"].astype(float)
    closes = _closes_before(reports["code"], days, context)
    above = ratio * (earned.abs() - _HALF_FEN) > _OTHER_PRICE * closes["max"]
    below = ratio * (earned.abs() + _HALF_FEN) * _OTHER_PRICE < closes["min"]
    lost = (earned > 0) & (reports["eps_fy2"].astype(float) * _LEFT < earned)
    fine.loc[reports.index] = ~(((above | below) & (ratio > 0)) | lost)
    return fine


def _closes_before(codes: pd.Series, days: pd.Series, context: Context) -> pd.DataFrame:
    """`min` and `max` of the stored closes of each code in the trade dates up to its day; null where it has
    none. The range holds the prices before an ex-right day as well."""
    since = context.calendar.last(_CLOSES_BACK, days.min())[0]
    columns = ("code", "date", "close")
    stored = context.read("fusion_kline_daily", columns=columns, since=since, until=days.max())
    stored = stored.dropna(subset=["close"]).astype({"close": float})
    found = pd.DataFrame(float("nan"), index=codes.index, columns=["min", "max"])
    for day in days.unique():
        own = days == day
        recent = stored[
            (stored["date"] >= context.calendar.last(_CLOSES_BACK, day)[0]) & (stored["date"] <= day)
        ]
        ends = recent.groupby("code")["close"].agg(["min", "max"])
        found.loc[own] = ends.reindex(codes[own]).to_numpy(dtype=float)
    return found
