"""fusion_holder: how many holders a company had, by the date of the count.

Counts are of period ends and of any day between (companies report them by the 10th, the 20th and the month's
end); each becomes public with its notice, weeks later.
"""

import numpy as np
import pandas as pd

from core.days import moved
from core.declaration import columns as t
from core.declaration import rules
from core.declaration.columns import Amt, Big, Code, Date, F, Model, Pct, col, key, received, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import REQUIRED, latest, market, timeseries
from core.declaration.scope import Context, Scope
from core.market.securities import is_a_share
from core.report_periods import latest_ended, periods_due
from platform_assets.datasets._histories import flagged_before
from platform_assets.datasets._notices import by_notice, is_announced
from resources.upstreams.fetch_context import FetchContext

_LARGE_CHANGE = 80
_LATE_DAYS = 30
"""Days after a deadline in which counts of the quarter end are still reported."""
_NEAR = 0.05
_QUARTER_DAYS = 100
_SAME_COUNT = 0.01
_LARGEST = {"top10": "top10_ratio_pct", "float10": "float10_ratio_pct"}


class Holder(Model):
    """One count of one company."""

    code: Code = key("security code")
    date: Date = key("date of the count")
    ann_date: Date = col(title="date of the notice")
    holder_num: Big = col("", "holders", nullable=False, gt=0)
    change_num: Big = col("", "change since the count before")
    change_ratio: Pct = col("pct", "change since the count before", ge=-100)
    avg_shares: F = col("sh", "A shares per holder", ge=0)
    avg_market_cap: Amt = col("CNY", "market value per holder", ge=0)
    total_shares: Big = col("sh", "A shares of the company", ge=0)
    interval_change_pct: Pct = col("pct", "change of the price since the count before")


@with_columns(
    Holder.code, Holder.date, t.Received.src, Holder.holder_num, Holder.change_ratio, Holder.avg_shares,
    Holder.avg_market_cap, "top10_ratio_pct", "float10_ratio_pct",
)  # fmt: skip
class AuxHolder(Model):
    """The same count, stored as one of the F10 tables."""

    holder_num: Big = col("", "holders", ge=0)
    change_ratio: Pct = col("pct", "change since the count before")
    top10_ratio_pct: Pct = col("pct", "shares of the ten largest holders / all shares", ge=0)
    float10_ratio_pct: Pct = col("pct", "shares of the ten largest float holders / float shares", ge=0)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Counts by the day of the notice: one call for an ordinary date, about ten at the end of April, for both
    tables of a run. Codes: one call for a hundred."""
    return by_notice(ctx, scope, "holder_counts", lambda portal: portal.holder_counts, ("code", "date"))


def platform(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Counts of the quarter ends that are being reported, one call each, without the days of their notices
    and the counts between quarter ends."""
    ends = periods_due(scope.until, _LATE_DAYS) or (latest_ended(scope.until),)
    now = ctx.clock.now()
    rows = pd.concat([ctx.cninfo.holder_counts(end, now) for end in ends], ignore_index=True)
    mine = [is_a_share(code) and scope.covers(code) for code in rows["code"]]
    return rows[mine].reset_index(drop=True)


def of_one_date(ctx: FetchContext, scope: Scope) -> bool:
    """True for one date: the list of today does not have the counts of the days between."""
    return not scope.is_range


def with_largest(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same answers; counts of a period's end with the share of the ten largest holders, as far as that is
    stored."""
    rows = portal(ctx, scope)
    if rows.empty:
        return rows
    held = ctx.read(
        "raw_top_holders",
        columns=("code", "report_period", "holder_type", "ratio_pct"),
        codes=scope.codes,
        since=rows["date"].min(),
        until=rows["date"].max(),
    )
    sums = held.groupby(["code", "report_period", "holder_type"])["ratio_pct"].sum(min_count=1)
    wide = sums.unstack("holder_type").reindex(columns=list(_LARGEST)).rename(columns=_LARGEST).reset_index()
    return rows.merge(wide.rename(columns={"report_period": "date"}), how="left", on=["code", "date"])


def add_change(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills the change where no source has it: against the company's count before, when that is known."""
    before = rows.sort_values(["code", "date"]).groupby("code")["holder_num"].shift(1)
    change = (rows["holder_num"] - before.reindex(rows.index)).astype("Float64")
    rows["change_num"] = rows["change_num"].fillna(change.astype("Int64"))
    ratio = (rows["change_num"] / (rows["holder_num"] - rows["change_num"]) * 100).astype("Float64")
    rows["change_ratio"] = rows["change_ratio"].fillna(ratio.astype(float).replace(np.inf, np.nan))
    return rows


def is_counted_by_today(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["date"] > context.today)


def moves_little(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["change_ratio"].abs() > _LARGE_CHANGE)


def shares_per_holder_fit(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The mean is A shares / holders, within 5 %."""
    mean = rows["total_shares"].astype(float) / rows["holder_num"].astype(float)
    return ~((rows["avg_shares"] - mean).abs() > _NEAR * mean)


def goes_on_from_the_count_before(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The count less its change is one that was reported for the quarter before it, where any was."""
    oldest = moved(rows["date"].min(), -_QUARTER_DAYS)
    stored = context.read(
        "fusion_holder",
        columns=("code", "date", "holder_num", "quality_flags"),
        codes=context.scope.codes,
        since=oldest,
        until=rows["date"].max(),
    )
    stored = stored[~flagged_before(stored, goes_on_from_the_count_before.__name__)]
    known = pd.concat(
        [stored.drop(columns="quality_flags"), rows[["code", "date", "holder_num"]]], ignore_index=True
    )
    known = known.drop_duplicates(["code", "date"], keep="last").rename(
        columns={"date": "counted_on", "holder_num": "count"}
    )
    asked = pd.DataFrame({"code": rows["code"], "date": rows["date"], "at": rows.index})
    asked["since"] = asked["date"].map({day: moved(day, -_QUARTER_DAYS) for day in asked["date"].unique()})
    asked["before"] = (rows["holder_num"] - rows["change_num"]).astype(float).to_numpy()
    pairs = asked[asked["before"].notna()].merge(known, on="code")
    pairs = pairs[(pairs["counted_on"] < pairs["date"]) & (pairs["counted_on"] >= pairs["since"])]
    fits = (pairs["before"] - pairs["count"].astype(float)).abs() <= _SAME_COUNT * pairs["before"].abs()
    return fits.groupby(pairs["at"]).any().reindex(rows.index, fill_value=True)


def is_told_after_the_count(rows: pd.DataFrame, context: Context) -> pd.Series:
    known = rows["ann_date"].notna()
    return ~(known & (rows["ann_date"].where(known, rows["date"]) < rows["date"]))


DATASET = Dataset(
    name="holder",
    subject="holders",
    title="Holder counts by count date",
    model=Holder,
    domain="daily",
    partition=rules.Partition.CODE,
    raw=(
        Raw(
            name="holder_num",
            title="Holder counts as the portal and the disclosure platform report them",
            model=received(Holder),
            partition=rules.Partition.CODE,
            sources=(Source("eastmoney", portal), Source("cninfo", platform, only_when=of_one_date)),
        ),
        Raw(
            name="aux_holders",
            also_tasks=("aux_f10_events_sync",),
            title="Holder counts beside the F10 tables: the portal's report once more, no further call",
            model=AuxHolder,
            partition=rules.Partition.CODE,
            sources=(Source("em_f10", with_largest),),
            coalesce_with_stored=tuple(_LARGEST.values()),
            reads=("raw_top_holders",),
        ),
    ),
    feeds={"raw_holder_num": rules.as_received, "aux_holders": rules.as_received},
    order=("eastmoney", "cninfo", "em_f10"),
    fuse=rules.Fields(),
    contract=(
        rules.Contract(is_counted_by_today, "a count of a day to come"),
        rules.Contract(is_announced, "a notice of a day to come"),
    ),
    derive=(add_change,),
    soft=(
        rules.Soft(moves_little, "the count changed by more than 80 %"),
        rules.Soft(shares_per_holder_fit, "shares per holder are not A shares / holders within 5 %"),
        rules.Soft(
            goes_on_from_the_count_before, "the change is not that against a count of the quarter before"
        ),
        rules.Soft(is_told_after_the_count, "the notice is older than the count"),
    ),
    reads_own_past=True,
    public_at=rules.on_date("ann_date", after="date"),
    freshness=rules.period(120, "date"),
    may_be_empty=True,  # there are days without a notice
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        latest("get_holder", "newest holder count of a code", 3600),
        timeseries("get_holder_history", "periods", "holder counts of a code by count date", ttl=3600).takes(
            code=REQUIRED, periods=20, ascending=True
        ),
        market(
            "get_holder_rank",
            "rank",
            "newest holder counts of all codes by a column: the largest falls first",
            ttl=3600,
        ).takes(sort="change_ratio", limit=50),
    ),
)
