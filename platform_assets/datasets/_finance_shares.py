"""Whether what a share earned is the profit of the company by its own shares: another company's figures,
which agree with one another, do not."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.declaration.scope import Context
from core.report_periods import year_end_before
from platform_assets.compute.asof import value_on

_HALF_DIGIT = 0.0051
"""CNY: earnings per share are reported with two decimals at least."""
_MORE = 0.10
"""Earnings of a share are above profit by all shares where the company holds shares of its own."""
_LESS = 0.35
"""They are below it by what goes to holders of preferred shares and of perpetual bonds before."""
_BEFORE_LISTING = 0.5
"""Part of the shares that a company had at least before it was listed: no source reports how many."""
_DEPOSITARY = "689"
"""Receipts for a part of a share: the report speaks of the share, the terminal of receipts."""

Numbers = npt.NDArray[np.float64]


def earnings_follow_shares(rows: pd.DataFrame, context: Context) -> pd.Series:
    """`eps` lies between profit by the most and by the fewest shares from the year's begin to the notice, for
    a report uses the mean of its period, or the shares after a bonus issue of later. Where no share count is
    known the row passes. Only changes that were stored by the end of the scope are seen."""
    codes = sorted(set(rows["code"]))
    changes = context.read(
        "ref_exright",
        columns=("code", "date", "total_after"),
        codes=codes if len(codes) <= 500 else None,
        until=context.scope.until,
    )
    changes = changes[changes["total_after"] > 0]
    if rows.empty or changes.empty:
        return pd.Series(True, index=rows.index)
    fewest, most = shares_between(rows, changes)
    profit = rows["net_profit"].to_numpy(dtype=float, na_value=np.nan)
    reported = rows["eps"].to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, other = profit / most, profit / fewest
    low, high = np.minimum(one, other), np.maximum(one, other)
    below = reported < low - _HALF_DIGIT - _LESS * np.abs(low)
    above = reported > high + _HALF_DIGIT + _MORE * np.abs(high)
    receipts = rows["code"].str.startswith(_DEPOSITARY).to_numpy(dtype=bool)
    return pd.Series(~(below | above) | receipts, index=rows.index)


def shares_between(rows: pd.DataFrame, changes: pd.DataFrame) -> tuple[Numbers, Numbers]:
    """(fewest, most) total shares of each row's company from the begin of its report's year to the notice, or
    to the newest change where the notice is not known; NaN where no count is known."""
    opened = rows["report_period"].map(year_end_before)
    before = value_on(rows.assign(date=opened), changes, "total_after")
    until = rows["ann_date"].where(rows["ann_date"].notna(), "9999-12-31")
    spans = pd.DataFrame(
        {"at": np.arange(len(rows)), "code": rows["code"].to_numpy(), "since": opened.to_numpy(),
         "until": until.to_numpy()}
    )  # fmt: skip
    held = spans.merge(changes, on="code")
    held = held[(held["date"] > held["since"]) & (held["date"] <= held["until"])]
    within = held.groupby("at")["total_after"].agg(["min", "max"]).reindex(spans["at"]).astype(float)
    least, most = within["min"].to_numpy(), within["max"].to_numpy()
    opening = np.where(np.isnan(before), least * _BEFORE_LISTING, before)
    return np.fmin(opening, least), np.fmax(before, most)
