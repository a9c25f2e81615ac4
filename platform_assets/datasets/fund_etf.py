"""raw_fund_etf: ETFs and LOFs by trade date, with their units. A RAW table alone; bars are in
fusion_kline_daily.

The portal's list has the value of the moment (IOPV) of ETFs and no net asset value: that one, and the premium
of LOFs, are the quote site's. Of past dates only Shanghai has the units of its ETFs; no source has the rest.
"""

import pandas as pd

from core.days import moved
from core.declaration.columns import S16, S32, S64, Amt, Big, Code, Date, Model, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.datasets._funds import of_scope, with_values
from resources.upstreams.fetch_context import FetchContext, current_session

KINDS = ("etf", "lof")
_BOTH = ("SSE", "SZSE")
_BEFORE_DAYS = 20
"""Trade dates that the units may be old against which a change is computed."""


class FundEtf(Model):
    """One fund on one trade date."""

    code: Code = key("fund code")
    trade_date: Date = key("trade date")
    name: S64 = col(title="name")
    fund_type: S16 = col(title="etf or lof", isin=list(KINDS))
    track_index: S32 = col(title="index that it follows", no_source="no documented source names it")
    price: Px = col("CNY", "closing price", gt=0)
    change_pct: Pct = col("pct", "change of the day")
    volume: Big = col("sh", "units traded", ge=0)
    amount: Amt = col("CNY", "turnover", ge=0)
    nav: Px = col("CNY", "net asset value per unit of the session before", gt=0)
    premium_pct: Pct = col("pct", "price above the value of the moment (ETF) or the net asset value", gt=-100)
    total_shares: Big = col("sh", "units", ge=0)
    share_change: Big = col("sh", "change of the units since the trade date stored before")
    market_cap_yi: Amt = col("yi", "price x units", ge=0)
    main_net: Amt = col("CNY", "net inflow of the large hands")
    fee_pct: Pct = col("pct", "yearly fee", no_source="no documented source names it")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """About twenty calls, and the batch of quotes that a run shares."""
    rows = pd.concat([ctx.eastmoney.fund_list(kind) for kind in KINDS], ignore_index=True)
    rows = with_values(ctx, rows)
    over = (rows["price"] / rows["iopv"] - 1) * 100
    reported = rows["premium_pct"] if "premium_pct" in rows.columns else float("nan")
    rows = rows.assign(premium_pct=over.fillna(reported), fund_type=rows["sec_type"])
    return with_change(ctx, of_scope(rows, scope), scope)


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The batch of quotes alone: no money flow."""
    quotes = ctx.site_quotes()
    rows = quotes[quotes["sec_type"].isin(KINDS)]
    return with_change(ctx, of_scope(rows.assign(fund_type=rows["sec_type"]), scope), scope)


def units(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Units of Shanghai's ETFs, one call a date."""
    return _of_units(ctx, scope, [ctx.sse.etf_units(day) for day in scope.dates])


def units_of_shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Units of Shenzhen's ETFs after the session that has ended, one call for twenty."""
    return _of_units(ctx, scope, [ctx.szse.etf_units(scope.until)])


def _of_units(ctx: FetchContext, scope: Scope, parts: list[pd.DataFrame]) -> pd.DataFrame:
    rows = stacked(parts, ["code", "trade_date"]).assign(fund_type="etf")
    return with_change(ctx, rows[rows["code"].map(scope.covers).astype(bool)], scope)


def with_change(ctx: FetchContext, rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """The rows with the change of their units since the row before, within these or the stored ones."""
    if rows.empty:
        return rows
    columns = ("code", "trade_date", "total_shares")
    since, until = moved(scope.since, -_BEFORE_DAYS), moved(scope.since, -1)
    stored = ctx.read("raw_fund_etf", columns=columns, codes=scope.codes, since=since, until=until)
    every = stacked((stored[list(columns)], rows[list(columns)]), columns).astype({"total_shares": float})
    every = every.sort_values(["code", "trade_date"], kind="stable")
    every["share_change"] = every.groupby("code")["total_shares"].diff()
    reported = every[["code", "trade_date", "share_change"]]
    return rows.merge(reported, how="left", on=["code", "trade_date"])


DATASET = Raw(
    name="fund_etf",
    title="ETFs and LOFs by trade date",
    model=FundEtf,
    sources=(
        Source("eastmoney", portal, only_when=current_session, parts=_BOTH),
        Source("tencent", quote_site, only_when=current_session, parts=_BOTH),
        Source("sse", units, parts=("SSE",)),
        Source("szse", units_of_shenzhen, only_when=current_session, parts=("SZSE",)),
    ),
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="other_securities",
    title="ETFs and LOFs",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        market("get_etf_list", "by_date", "ETF and LOF list", ttl=300).takes(
            trade_date=DAY, sort="-amount", limit=500
        ),
        timeseries("get_etf_share_history", "history", "shares outstanding series", ttl=3600).takes(
            etf_code=REQUIRED, limit=120
        ),
    ),
)
