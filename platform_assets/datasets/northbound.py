"""raw_northbound: the stock connect by trade date and channel. A RAW table alone; it has no codes."""

import pandas as pd

from core.declaration.columns import S8, Amt, Big, Date, Model, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.rules import interfaces, trading
from core.declaration.scope import Scope
from core.errors import PayloadError
from core.market.stock_connect import CHANNELS
from resources.upstreams.fetch_context import FetchContext

_HIDDEN = "of northbound not disclosed since 2024-08-19"


class Northbound(Model):
    """One channel on one date; of the southbound channels 10k HKD."""

    trade_date: Date = key("trade date")
    channel: S8 = key("hgt, sgt, north, ggt_sh, ggt_sz", isin=list(CHANNELS))
    net_buy: Amt = col("wan", f"bought - sold; {_HIDDEN}")
    buy_amt: Amt = col("wan", f"bought; {_HIDDEN}", ge=0)
    sell_amt: Amt = col("wan", f"sold; {_HIDDEN}", ge=0)
    deal_amt: Amt = col("wan", "turnover", ge=0)
    quota_balance: Amt = col("wan", f"daily quota left; {_HIDDEN}")
    trade_count: Big = col("", "deals", ge=0)


def exchange(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One file per date. Dates without one are left out; when there is none at all the portal is asked: the
    site keeps some months."""
    rows = stacked(ctx.each(ctx.hkex.connect_day, scope.dates), ["trade_date"])
    if rows.empty:
        raise PayloadError(f"no file between {scope.since} and {scope.until}", source="hkex")
    return rows


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 100 dates."""
    rows = ctx.eastmoney.connect_days(scope.since, scope.until)
    return rows[rows["trade_date"].isin(list(scope.dates))]


DATASET = Raw(
    name="northbound",
    title="Stock connect: turnover, deals and what else is disclosed, by channel",
    model=Northbound,
    sources=(Source("hkex", exchange), Source("eastmoney", portal)),
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Stock connect by trade date",
    tasks=("exchange_sync",),
    interfaces=interfaces("""
        get_northbound_daily(channel=north start_date? end_date? limit=120): timeseries rows_of, 600 s
            northbound daily rows
    """),
)
