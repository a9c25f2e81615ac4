"""Figures derived from the key figures of a report, and checks between them.

Amounts in CNY, ratios and growth in percent; a report period is its last day.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.days import moved
from core.declaration.scope import Context
from core.report_periods import estimated_notice, period_away, public_from, year_end_before
from platform_assets.compute.asof import value_on
from platform_assets.compute.name_spans import named
from platform_assets.compute.quarters import on_quarter_before
from resources.upstreams.tdx_packages.arrays import IMPORTED

_QOQ_BACK = 5
"""Periods before a row that its single quarter, and the one before, are made of."""
_YEAR = 4
"""Report periods from one to that of the year before."""
_LOOSE_POINTS = 25.0
_LOOSE_SHARE = 0.25


# -- derivation ---------------------------------------------------------------------------------------


def of_known_codes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The rows without companies that are not in the security master: applicants that were never listed."""
    known = context.read("fusion_stock_master", columns=("code",), codes=context.scope.codes)
    if known.empty:
        return rows
    return rows[rows["code"].isin(known["code"])].reset_index(drop=True)


_STATED = ("raw_fin_indicator", "raw_finstmt", "raw_earnings_express")


def few(codes: list[str]) -> list[str] | None:
    """Codes to read by, unless reading everything is cheaper."""
    return codes if len(codes) <= 500 else None


def add_first_days(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """A report of which every stated notice is before the end of its period is public from the day after
    that end on: the true day is not known."""
    unknown = rows["ann_date"].isna()
    if not unknown.any():
        return rows
    asked = rows[unknown]
    since, until = asked["report_period"].min(), asked["report_period"].max()
    columns = ("code", "report_period", "ann_date")
    codes = few(sorted(set(asked["code"])))
    stated = pd.concat(
        context.read(table, columns=columns, codes=codes, since=since, until=until) for table in _STATED
    )
    first = (
        stated[stated["ann_date"].notna()]
        .sort_values("ann_date")
        .drop_duplicates(["code", "report_period"], keep="last")
    )
    days = asked[["code", "report_period"]].merge(first, how="left", on=["code", "report_period"])["ann_date"]
    rows.loc[unknown, "ann_date"] = public_from(
        days, asked["report_period"].reset_index(drop=True)
    ).to_numpy()
    return rows


def add_names(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    spans = context.read(
        "ref_name_history",
        columns=("code", "valid_from", "valid_to", "name", "is_st"),
        codes=context.scope.codes,
    )
    days = rows["ann_date"].where(rows["ann_date"].notna(), rows["report_period"])
    names = named(pd.DataFrame({"code": rows["code"], "date": days}), spans).name
    rows["name"] = pd.Series(names, index=rows.index, dtype=object)
    return rows


def fill_ratios(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills ratios that no source reports from the amounts of the same report."""
    revenue = rows["revenue"].where(rows["revenue"] > 0)
    assets = rows["total_assets"].where(rows["total_assets"] > 0)
    rows["gross_margin"] = rows["gross_margin"].fillna((revenue - rows["operating_cost"]) / revenue * 100)
    rows["net_margin"] = rows["net_margin"].fillna(rows["net_profit"] / revenue * 100)
    rows["debt_ratio"] = rows["debt_ratio"].fillna(rows["total_liabilities"] / assets * 100)
    return rows


def add_returns(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Free cash flow and the returns; null where an amount that they need is not known."""
    rows["free_cash_flow"] = rows["operating_cash_flow"] - rows["capex"]
    own = rows["parent_equity"].where(rows["parent_equity"] > 0)
    rows["roe_diluted"] = rows["net_profit"] / own * 100
    before_tax = rows["total_profit"].where(rows["total_profit"] > 0)
    kept = (rows["net_profit"] / before_tax).clip(upper=1)
    capital = rows["total_equity"] + rows["short_debt"] + rows["long_debt"]
    earned = (rows["total_profit"] + rows["finance_expense"]) * kept
    rows["roic"] = earned / capital.where(capital > 0) * 100
    return rows


def add_from_periods_before(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Quarter on quarter, and the return on mean assets where no source reports it."""
    oldest = rows["report_period"].min()
    since = min(period_away(oldest, -_QOQ_BACK), year_end_before(oldest))
    columns = ["code", "report_period", "revenue", "net_profit", "total_assets"]
    stored = context.read(
        "fusion_finance_indicator",
        columns=columns,
        codes=context.scope.codes,
        since=since,
        until=rows["report_period"].max(),
    )
    # What is being fused now goes before what was stored.
    known = pd.concat([stored, rows[columns]], ignore_index=True)
    known = known.drop_duplicates(subset=["code", "report_period"], keep="last")
    for name in ("revenue", "net_profit"):
        rows[f"{name}_qoq"] = _on_quarter_before(rows, known, name)
    assets = known.set_index(["code", "report_period"])["total_assets"].astype(float)
    opening = assets.reindex(
        pd.MultiIndex.from_arrays([rows["code"], rows["report_period"].map(year_end_before)])
    )
    mean = (rows["total_assets"].to_numpy(dtype=float) + opening.to_numpy(dtype=float)) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = rows["net_profit"].to_numpy(dtype=float) / np.where(mean > 0, mean, np.nan) * 100
    rows["roa"] = rows["roa"].fillna(pd.Series(share, index=rows.index))
    return rows


def _on_quarter_before(rows: pd.DataFrame, known: pd.DataFrame, column: str) -> pd.Series:
    reported = known[known[column].notna()]
    keys = zip(reported["code"], reported["report_period"], strict=True)
    figures: dict[tuple[str, str], float] = dict(zip(keys, reported[column].astype(float), strict=True))

    def of(code: str, period: str) -> float | None:
        return on_quarter_before(lambda one: figures.get((code, one)), period)

    values = [of(code, period) for code, period in zip(rows["code"], rows["report_period"], strict=True)]
    return pd.Series(values, index=rows.index, dtype=float)


# -- checks -------------------------------------------------------------------------------------------


def balances(rows: pd.DataFrame, context: Context) -> pd.Series:
    gap = (rows["total_assets"] - rows["total_liabilities"] - rows["total_equity"]).abs()
    return ~(gap > 0.01 * rows["total_assets"])


def debt_ratio_in_range(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["debt_ratio"] < 0) | (rows["debt_ratio"] > 200))


def roe_in_range(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["roe"].abs() > 300)


def margin_follows_profit(rows: pd.DataFrame, context: Context) -> pd.Series:
    revenue = rows["revenue"].where(rows["revenue"] > 0)
    return ~((rows["net_margin"] - rows["net_profit"] / revenue * 100).abs() > 1)


def gross_margin_follows_costs(rows: pd.DataFrame, context: Context) -> pd.Series:
    revenue = rows["revenue"].where(rows["revenue"] > 0)
    reported = (revenue - rows["operating_cost"]) / revenue * 100
    return ~(((rows["gross_margin"] - reported).abs() > 1) | (rows["gross_margin"] > 100))


def growth_follows_the_year_before(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The reported growth is that of the amounts, where those of the year before are known. Loose, for a
    year before that was restated; a figure in another unit, or of another company, is out by far more.
    After a loss growth is stated against its absolute amount or its signed one: either passes."""
    columns = ["code", "report_period", "revenue", "net_profit"]
    before = {period: period_away(period, -_YEAR) for period in rows["report_period"].unique()}
    stored = context.read(
        "fusion_finance_indicator",
        columns=columns,
        codes=context.scope.codes,
        since=min(before.values(), default=None),
        until=max(before.values(), default=None),
    )
    asked = pd.DataFrame({"code": rows["code"], "report_period": rows["report_period"].map(before)})
    known = asked.merge(stored, on=["code", "report_period"], how="left").set_axis(rows.index)
    fine = pd.Series(True, index=rows.index)
    for name in ("revenue", "net_profit"):
        base = known[name].astype(float)
        implied = (rows[name].astype(float) / base.where(base != 0) - 1) * 100
        reported = rows[f"{name}_yoy"].astype(float)
        gap = (reported - implied).abs()
        gap = gap.where(base > 0, np.minimum(gap, (reported + implied).abs()))
        fine &= ~(gap > _LOOSE_POINTS + _LOOSE_SHARE * implied.abs())
    return fine


def says_something(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["revenue"] == 0) & (rows["net_profit"] == 0)).fillna(False)


def per_share_in_range(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["eps"].abs() > 1000) | (rows["bvps"].abs() > 5000)).fillna(False)


def has_ended(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["report_period"] < context.today


def announced_after_the_period(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The notice is later than the first day on which it could have come out, where a date is put that is
    not known (`add_first_days`)."""
    known = rows["ann_date"].notna()
    first = rows["report_period"].map(lambda end: moved(end, 1))
    return ~known | (rows["ann_date"].where(known, "") > first)


def figures_are_as_announced(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The publisher's files hold the latest values of a period: what was restated since cannot be known."""
    return rows["src"] != IMPORTED


def notice_is_stated(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The day of the notice is not the estimate that stands for one that the publisher's file lacks."""
    return (rows["src"] != IMPORTED) | (rows["ann_date"] != rows["report_period"].map(estimated_notice))


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
