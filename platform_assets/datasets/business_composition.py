"""aux_operate: revenue, cost and profit of a company by industry, product and region."""

import pandas as pd

from core.declaration.columns import S8, S128, Amt, Code, Date, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from platform_assets.datasets._rotation import REPORTED, codes_to_fetch
from resources.upstreams.fetch_context import FetchContext

_KEY = ("code", "report_period", "dim_type", "item")


class AuxOperate(Model):
    """One part of the business in one report period."""

    code: Code = key("security code")
    report_period: Date = key("end of the report period")
    dim_type: S8 = key("how the business is divided", isin=["product", "industry", "region"])
    item: S128 = key("the part")
    revenue: Amt = col("CNY", "revenue of the part; below zero where sales inside the group are taken off")
    revenue_ratio_pct: Pct = col("pct", "revenue of the part / revenue", le=150)
    cost: Amt = col("CNY", "cost of the part")
    profit: Amt = col("CNY", "revenue - cost")
    gross_margin: Pct = col("pct", "profit / revenue of the part", le=150)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per code. Of the market the codes that reported and a hundred in turn."""
    symbols = ctx.symbols(codes_to_fetch(ctx, scope), "stock")
    return stacked(ctx.each(ctx.eastmoney.operations, symbols, pages=True), _KEY)


DATASET = Raw(
    name="aux_operate",
    title="Revenue, cost and profit by industry, product and region",
    model=AuxOperate,
    partition=Partition.CODE,
    sources=(Source("em_f10", portal),),
    reads=REPORTED,
).alone(
    name="business_composition",
    subject="companies",
    title="What companies earn their money with",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock(
            "get_business_composition",
            "newest_periods",
            "main business composition",
            ttl=86400,
            order="-revenue",
        ).takes(code=REQUIRED, dim_type="product", periods=4),
    ),
)
