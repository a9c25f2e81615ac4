"""fusion_fund_flow: money flow of every stock by size of order, by trade date."""

from collections.abc import Callable

import pandas as pd

from core.declaration import rules
from core.declaration.columns import Amt, Code, Date, Model, Pct, Px, col, key, received
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import REQUIRED, market, standard, timeseries
from core.declaration.scope import Context, Scope
from platform_assets.datasets._events import close_is_that_of_the_bar, of_session
from resources.upstreams.fetch_context import FetchContext, current_session, within_last
from resources.upstreams.hosts import PORTAL_HISTORY

_SECOND_DAYS = 60
_CODE_DAYS = 120
"""Trade dates that the portal tells of a code."""
_MARKET_DAYS = 50
"""Trade dates of a whole market: the portal, which tells of 120, cuts off after a few codes."""
SIZES = ("super", "large", "medium", "small")
SPLITS = tuple(f"{size}_{way}" for size in ("super_large", *SIZES[1:]) for way in ("in", "out"))


class FundFlow(Model):
    """One stock on one trade date; in and out sums are known only from the list of their own day."""

    code: Code = key("security code")
    date: Date = key("trade date")
    close: Px = col("CNY", "closing price", gt=0)
    change_pct: Pct = col("pct", "change of the day")
    main_net: Amt = col("CNY", "main net inflow: super-large + large", nullable=False)
    main_net_pct: Pct = col("pct", "main net inflow / amount")
    super_net: Amt = col("CNY", "super-large net inflow")
    super_net_pct: Pct = col("pct", "super-large net inflow / amount", computed=True)
    large_net: Amt = col("CNY", "large net inflow")
    large_net_pct: Pct = col("pct", "large net inflow / amount", computed=True)
    medium_net: Amt = col("CNY", "medium net inflow")
    medium_net_pct: Pct = col("pct", "medium net inflow / amount", computed=True)
    small_net: Amt = col("CNY", "small net inflow")
    small_net_pct: Pct = col("pct", "small net inflow / amount", computed=True)
    super_large_in: Amt = col("CNY", "super-large inflow", ge=0)
    super_large_out: Amt = col("CNY", "super-large outflow", ge=0)
    large_in: Amt = col("CNY", "large inflow", ge=0)
    large_out: Amt = col("CNY", "large outflow", ge=0)
    medium_in: Amt = col("CNY", "medium inflow", ge=0)
    medium_out: Amt = col("CNY", "medium outflow", ge=0)
    small_in: Amt = col("CNY", "small inflow", ge=0)
    small_out: Amt = col("CNY", "small outflow", ge=0)
    main_inflow: Amt = col("CNY", "super-large + large inflow", computed=True)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Today from the list of all A shares, with in and out (none of suspended ones); past nets from the lines
    of a few codes."""
    if not current_session(ctx, scope):
        return ctx.fetch_per_code(scope, ctx.eastmoney.fund_flow_daily, sec_type="stock", site=PORTAL_HISTORY)
    listed = of_session(ctx, ctx.portal_list(), scope.until, "list of all A shares")
    rows = listed[listed["code"].map(scope.covers).astype(bool)]
    return rows.rename(columns={"trade_date": "date", "price": "close"}).dropna(subset=["main_net"])


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Stock by stock: the four nets of today, the main net of the last 50 trade dates."""
    if current_session(ctx, scope):
        today = lambda symbol: ctx.tencent.fund_flow(symbol).today.assign(date=scope.until)  # noqa: E731
        return _flowed(ctx.fetch_per_code(scope, today, sec_type="stock"))
    return ctx.fetch_per_code(
        scope, lambda symbol: ctx.tencent.fund_flow(symbol, _MARKET_DAYS).history, sec_type="stock"
    )


def _flowed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without the zeros that the quote site sends of a suspended stock: nothing flowed there."""
    nets = rows[[f"{size}_net" for size in SIZES]]
    return rows[nets.isna().all(axis=1) | (nets.fillna(0) != 0).any(axis=1)]


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Stock by stock, of named codes alone: the four nets of the last 60 trade dates."""
    return ctx.fetch_per_code(
        scope, lambda symbol: ctx.sina.fund_flow(symbol, _SECOND_DAYS), sec_type="stock"
    )


def of_recent_codes(ctx: FetchContext, scope: Scope) -> bool:
    """True for named codes on recent dates: the market is already asked code by code at the quote site."""
    return scope.codes is not None and reaches(_SECOND_DAYS)(ctx, scope)


def reaches(days: int) -> Callable[[FetchContext, Scope], bool]:
    """Whether the scope lies within the newest `days` trade dates; of named codes its end, since one answer
    has all there is of a code."""

    def inside(ctx: FetchContext, scope: Scope) -> bool:
        return within_last(days)(ctx, scope if scope.codes is None else Scope(scope.dates[-1:]))

    return inside


def add_shares(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    amount = context.stored_column(rows, "fusion_kline_daily", "amount")
    for size in SIZES:
        rows[f"{size}_net_pct"] = rows[f"{size}_net"] / amount.where(amount > 0) * 100
    rows["main_inflow"] = rows["super_large_in"] + rows["large_in"]
    return rows


def main_adds_up(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["main_net"] - rows["super_net"] - rows["large_net"]).abs() > 1e4)


def nets_cancel(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The nets of all sizes cancel out at sources that count each deal on both sides; the second quote site
    does not."""
    sums = rows[[f"{size}_net" for size in SIZES]].sum(axis=1, skipna=False)
    return ~(sums.abs() > 1e5) | (rows["src"] == "sina")


def main_within_amount(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["main_net"].abs() > context.stored_column(rows, "fusion_kline_daily", "amount"))


def main_rounding(rows: pd.DataFrame) -> pd.Series:
    """One source rounds the sum, another the summands: 1 CNY between two of them."""
    return pd.Series(1.0, index=rows.index).where(rows["src"] != rows["stored_src"])


DATASET = Dataset(
    name="fund_flow",
    importable=True,
    subject="trading",
    title="Money flow of stocks",
    model=FundFlow,
    domain="daily",
    raw=(
        Raw(
            name="fund_flow",
            history=_CODE_DAYS,
            gaps=True,
            title="Money flow as the upstreams show it",
            model=received(FundFlow),
            sources=(
                Source("eastmoney", portal, reaches(_CODE_DAYS)),
                Source("tencent", quote_site, reaches(_MARKET_DAYS)),
                Source("sina", second_quote_site, of_recent_codes),
            ),
            coalesce_with_stored=SPLITS,
            reads=("fusion_kline_daily",),
        ),
    ),
    feeds={"raw_fund_flow": rules.as_received},
    order=("eastmoney", "tencent", "sina"),
    fuse=rules.Fields(),
    unchanged_within={"main_net": main_rounding},
    derive=(add_shares,),
    soft=(
        rules.Soft(close_is_that_of_the_bar, "the reported price is not the close of the day"),
        rules.Soft(main_adds_up, "main net is not super-large + large"),
        rules.Soft(nets_cancel, "the four nets do not sum to 0"),
        rules.Soft(main_within_amount, "main net beyond the turnover of the day"),
    ),
    reads=("fusion_kline_daily",),
    needs=(rules.Needed("fusion_kline_daily", tuple(f"{size}_net_pct" for size in SIZES)),),
    public_at=rules.close_of("date"),
    freshness=rules.trading(1),
    may_be_empty=True,  # a market of bars alone has no money flow; freshness shows its age
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        *standard("fund_flow", "money flow", 60),
        timeseries(
            "get_realtime_fund_flow_minute", "live_fund_flow_minute", "minute fund flow of today", ttl=30
        ).takes(code=REQUIRED),
        market("get_realtime_northbound", "live_northbound", "minute northbound flow", ttl=30),
        market(
            "get_fund_flow_rank", "flow_rank", "net inflow ranking over 1, 3, 5, 10, 20 days", ttl=60
        ).takes(days=1, sort="-main_net", limit=50),
    ),
)
