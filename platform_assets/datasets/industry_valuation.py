"""raw_industry_valuation: PE and PB of industries by trade date, by four classifications. A RAW table alone.

The disclosure platform has those of the regulator (csrc) and of CNI, SW its own, the portal its boards (em).
"""

import pandas as pd

from core.declaration.columns import S4, S8, S16, S64, Amt, Date, F, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, TEXT, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.datasets._industries import sw_report
from resources.upstreams.fetch_context import FetchContext

STANDARDS = ("csrc", "cni", "sw", "em")


class IndustryValuation(Model):
    """One industry on one trade date; ratios as published, also below zero."""

    standard: S8 = key("csrc, cni, sw, em", isin=list(STANDARDS))
    industry_code: S16 = key("code in its classification")
    date: Date = key("trade date")
    industry_name: S64 = col(title="name", nullable=False)
    level: S4 = col(title="level: 1, 2 of csrc and cni; l1, l2, l3 of sw; none of em")
    member_count: Int = col("", "companies; not published by sw", ge=0)
    pe_weighted: F = col("", "sum of caps / sum of earnings")
    pe_median: F = col("", "median of the companies' PE; csrc and cni alone")
    pe_mean: F = col("", "mean of the companies' PE; csrc and cni alone")
    pb: F = col("", "price / book; sw and em alone")
    dividend_yield: Pct = col("pct", "dividend yield; sw alone", ge=0)
    total_market_cap_yi: Amt = col("yi", "total market cap; not published by sw", ge=0)
    net_profit_yi: Amt = col("yi", "net profit; csrc and cni alone")


def platform(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for a date and classification."""
    parts = [
        ctx.cninfo.industry_ratios(standard, day, ctx.clock.now()).assign(standard=standard)
        for day in scope.dates
        for standard in ("csrc", "cni")
    ]
    return pd.concat(parts, ignore_index=True)


def classes(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The daily analysis, shared with fusion_industry_index: four calls for a date."""
    rows = sw_report(ctx, scope)
    return rows.rename(
        columns={"code": "industry_code", "name": "industry_name", "pe": "pe_weighted"}
    ).assign(standard="sw")


def boards(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for a date."""
    parts = [ctx.eastmoney.board_ratios(day) for day in scope.dates]
    return pd.concat(parts, ignore_index=True).assign(standard="em")


DATASET = Raw(
    name="industry_valuation",
    title="PE and PB of industries by trade date and classification",
    model=IndustryValuation,
    sources=(
        Source("cninfo", platform, parts=("csrc", "cni")),
        Source("sw", classes, parts=("sw",)),
        Source("eastmoney", boards, parts=("em",)),
    ),
    combine="all",
    late=1,
    freshness=trading(3),
    topical=True,
).alone(
    subject="indices_and_industries",
    title="Valuation of industries",
    tasks=("industry_index_sync",),
    interfaces=(
        market(
            "get_industry_valuation",
            "by_date",
            "PE of the industries of a classification on one date",
            ttl=3600,
        ).takes(standard="csrc", date=DAY, level=TEXT),
        timeseries(
            "get_industry_valuation_history", "history", "PE of one industry by date, oldest first", ttl=3600
        ).takes(industry_code=REQUIRED, standard="csrc", limit=250),
    ),
)
