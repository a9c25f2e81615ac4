"""raw_reit: the listed real-estate funds (REITs) by trade date. A RAW table alone.

The portal's list has neither a net asset value nor a yield: both, and the premium, are the quote site's,
which the day's batch of quotes holds anyway. Where that batch is missing they stay empty.
"""

import pandas as pd

from core.declaration.columns import S32, S64, Amt, Big, Code, Date, Model, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.datasets._funds import of_scope, with_values
from resources.upstreams.fetch_context import FetchContext, current_session


class Reit(Model):
    """One fund on one trade date."""

    code: Code = key("fund code")
    trade_date: Date = key("trade date")
    name: S64 = col(title="name")
    asset_type: S32 = col(title="kind of the property", no_source="no documented source names it")
    price: Px = col("CNY", "closing price", gt=0)
    change_pct: Pct = col("pct", "change of the day")
    volume: Big = col("sh", "units traded", ge=0)
    amount: Amt = col("CNY", "turnover", ge=0)
    turnover_pct: Pct = col("pct", "turnover rate", ge=0)
    nav: Px = col("CNY", "net asset value per unit of the session before", gt=0)
    premium_pct: Pct = col("pct", "price above the net asset value", gt=-100)
    dividend_yield: Pct = col("pct", "dividends of a year / price", ge=0)
    total_shares: Big = col("sh", "units", ge=0)
    market_cap_yi: Amt = col("yi", "price x units", ge=0)
    list_date: Date = col(title="listing date")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call, and the batch of quotes that a run shares."""
    return of_scope(with_values(ctx, ctx.eastmoney.fund_list("reit")), scope)


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The batch of quotes alone: no listing dates."""
    quotes = ctx.site_quotes()
    return of_scope(quotes[quotes["sec_type"] == "reit"], scope)


DATASET = Raw(
    name="reit",
    title="REITs by trade date",
    model=Reit,
    sources=(
        Source("eastmoney", portal, only_when=current_session),
        Source("tencent", quote_site, only_when=current_session),
    ),
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="other_securities",
    title="Real-estate funds (REITs)",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        market("get_reit_list", "by_date", "REIT list", ttl=300).takes(trade_date=DAY, sort="-change_pct"),
        timeseries("get_reit_history", "history", "REIT series", ttl=600).takes(code=REQUIRED, limit=250),
    ),
)
