"""Earnings and book value per share by the newest reports that were announced by a date."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from core.days import moved
from core.declaration.scope import Context
from core.report_periods import year_end_before
from platform_assets.compute.asof import value_on
from platform_assets.compute.quarters import year_before

REPORTS = "fusion_finance_indicator"
_LOOK_BACK = 1100
"""Days: the newest report may be of two years ago, and its twelve months need the year before."""
_READ = ("code", "report_period", "ann_date", "net_profit", "bvps", "quality")


def per_share(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """`eps_ttm`: profit of the last twelve months by share in force on the row's date; `bvps`: the book value
    of the newest report, spread over the shares in force on that date. Null where no report has it,
    and where a report of which it is made is `flagged`. Columns by the index of `rows` (code, date)."""
    made = pd.DataFrame({"eps_ttm": np.nan, "bvps": np.nan, "flagged": False}, index=rows.index)
    if rows.empty:
        return made
    since = moved(str(rows["date"].min()), -_LOOK_BACK)
    codes = sorted(set(rows["code"]))
    stored = context.read(REPORTS, columns=_READ, codes=codes, since=since, until=context.scope.until)
    reported = stored[stored["ann_date"].notna()].assign(flagged=stored["quality"] != "ok")
    if reported.empty:
        return made
    changes = context.read(
        "ref_exright", columns=("code", "date", "total_after"), codes=codes, until=context.scope.until
    )
    changes = changes[changes["total_after"] > 0]
    shares = value_on(rows, changes, "total_after")
    profits = _by_announcement(_trailing(reported), "profit")
    earned = value_on(rows, profits, "profit")
    worth = reported.assign(date=reported["report_period"])
    worth["equity"] = worth["bvps"].astype(float) * value_on(worth, changes, "total_after")
    equity = value_on(rows, _by_announcement(worth.assign(known=worth["ann_date"]), "equity"), "equity")
    with np.errstate(invalid="ignore", divide="ignore"):
        made["eps_ttm"] = np.where(shares > 0, earned / shares, np.nan)
        made["bvps"] = np.where(shares > 0, equity / shares, np.nan)
    made["flagged"] = value_on(rows, profits, "flagged") == 1
    return made


def _trailing(reports: pd.DataFrame) -> pd.DataFrame:
    """`profit` of the twelve months that end with each report period, and the day from which all that it is
    made of was `known`: the cumulated figure + the last year's - the one of a year before."""
    own = reports[["code", "report_period", "ann_date", "net_profit", "flagged"]]

    def of_period(period_of: Callable[[str], str]) -> pd.DataFrame:
        asked = own[["code"]].assign(report_period=own["report_period"].map(period_of))
        return asked.merge(own, how="left", on=["code", "report_period"]).set_axis(own.index)

    year, before = of_period(year_end_before), of_period(year_before)
    is_annual = own["report_period"].str[5:] == "12-31"
    rolled = own["net_profit"] + year["net_profit"] - before["net_profit"]
    days = pd.concat([own["ann_date"], year["ann_date"], before["ann_date"]], axis=1).astype(object)
    flags = own["flagged"] | (~is_annual & (year["flagged"].eq(True) | before["flagged"].eq(True)))
    return own.assign(
        flagged=flags,
        profit=own["net_profit"].where(is_annual, rolled).astype(float),
        known=own["ann_date"].where(is_annual, days.fillna("9999-12-31").max(axis=1)),
    )


def _by_announcement(facts: pd.DataFrame, column: str) -> pd.DataFrame:
    """code, date (when it was known), `column`; a report of an older period that came late is left out. A
    flagged one stays without its figure, so that no older one is used instead."""
    reported = facts.assign(**{column: facts[column].where(~facts["flagged"])})
    known: Any = reported[reported[column].notna() | reported["flagged"]].sort_values(
        ["code", "known", "report_period"]
    )
    place = known["report_period"].str.replace("-", "").astype(int)
    newest = place.groupby(known["code"]).cummax()
    return known[place == newest].assign(date=known["known"])[["code", "date", column, "flagged"]]
