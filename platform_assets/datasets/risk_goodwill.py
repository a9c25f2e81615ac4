"""raw_risk_goodwill: goodwill of companies by report period. A RAW table alone."""

import pandas as pd

from core.declaration.columns import S64, Amt, Code, Date, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, stock
from core.declaration.rules import Partition, period
from core.declaration.scope import Scope
from core.errors import Unavailable
from core.market.securities import is_a_share
from core.report_periods import open_on_any, public_from, year_end_before
from resources.upstreams.fetch_context import FetchContext

_KEY = ["code", "report_period"]


class RiskGoodwill(Model):
    """Goodwill in one report of one company."""

    code: Code = key("security code")
    report_period: Date = key("end of the report period")
    name: S64 = col(title="name")
    goodwill: Amt = col("CNY", "goodwill", nullable=False, ge=0)
    goodwill_prev: Amt = col("CNY", "goodwill at the end of the year before", ge=0)
    goodwill_equity_ratio_pct: Pct = col("pct", "goodwill / equity; below zero where equity is")
    impairment: Amt = col("CNY", "goodwill written off in the period")
    impairment_profit_ratio_pct: Pct = col("pct", "written off / net profit")
    net_profit: Amt = col("CNY", "net profit")
    net_profit_yoy: Pct = col("pct", "net profit, year on year")
    industry: S64 = col(
        title="industry", no_source="the report names none; routes group by fusion_stock_industry"
    )
    ann_date: Date = col(title="date of the notice; never before the period has ended")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The periods that are being disclosed, six calls each; of codes all of theirs."""
    if scope.codes is None:
        parts = [ctx.eastmoney.goodwill(one) for one in open_on_any(scope.dates)]
    else:
        parts = [ctx.eastmoney.goodwill_of(codes) for codes in scope.named_groups()]
    rows = stacked(parts, _KEY)
    return _public(rows[rows["code"].map(is_a_share).astype(bool)])


def _public(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the days from which they are public as their notices."""
    return rows.assign(ann_date=public_from(rows["ann_date"], rows["report_period"])) if len(rows) else rows


def balances(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Goodwill and equity of the balances that are stored; no call. They hold the companies whose whole
    statements were asked for, so this is less than the market."""
    columns = ("code", "report_period", "item", "value", "ann_date")
    items = ctx.read("raw_finstmt", columns=columns, codes=scope.codes)
    wide = items.drop_duplicates(subset=[*_KEY, "item"]).pivot(index=_KEY, columns="item", values="value")
    wide = wide.reindex(columns=["goodwill", "parent_equity", "net_profit"]).reset_index()
    reported = items.groupby(_KEY, as_index=False)["ann_date"].max()
    past = wide[[*_KEY, "goodwill"]].rename(
        columns={"report_period": "year_end", "goodwill": "goodwill_prev"}
    )
    wide["year_end"] = wide["report_period"].map(year_end_before)
    rows = wide.merge(past, how="left", on=["code", "year_end"]).merge(reported, how="left", on=_KEY)
    if scope.codes is None:
        rows = rows[rows["report_period"].isin(list(open_on_any(scope.dates)))]
    rows = rows[rows["goodwill"] > 0].drop(columns="year_end")
    if rows.empty:
        raise Unavailable("no stored balance holds goodwill")
    rows["goodwill_equity_ratio_pct"] = rows["goodwill"] / rows["parent_equity"] * 100
    return _public(rows.drop(columns="parent_equity"))


DATASET = Raw(
    name="risk_goodwill",
    title="Goodwill by report period",
    model=RiskGoodwill,
    partition=Partition.REPORT_PERIOD,
    sources=(Source("eastmoney", portal), Source("balance", balances)),
    reads=("raw_finstmt",),
    freshness=period(120),
    topical=True,
).alone(
    subject="financials",
    title="Goodwill",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock("get_goodwill", "newest", "goodwill rows", ttl=3600).takes(code=REQUIRED, limit=12),
        market(
            "get_goodwill_rank",
            "by_date",
            "highest goodwill ratios",
            ttl=3600,
            order="-goodwill_equity_ratio_pct",
        ).takes(report_period=DAY, limit=100),
    ),
)
