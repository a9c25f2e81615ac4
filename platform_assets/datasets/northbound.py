"""raw_northbound: the stock connect by trade date and channel. A RAW table alone; it has no codes."""

import pandas as pd

from core.declaration.columns import S8, Amt, Big, Date, Model, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from core.declaration.trade_days import HONG_KONG
from core.errors import NotServed
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
    """One file per date. The portal is asked for dates without one: the site keeps some months."""

    def of(day: str) -> pd.DataFrame:
        rows: pd.DataFrame = ctx.hkex.connect_day(day)
        if rows.empty:
            raise NotServed(f"no file of {day}", source="hkex")
        return rows

    return stacked(ctx.each(of, scope.dates), ["trade_date"])


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 100 dates."""
    rows = ctx.eastmoney.connect_days(scope.since, scope.until)
    return rows[rows["trade_date"].isin(list(scope.dates))]


DATASET = Raw(
    name="northbound",
    title="Stock connect: turnover, deals and what else is disclosed, by channel",
    model=Northbound,
    sources=(Source("hkex", exchange), Source("eastmoney", portal)),
    market=HONG_KONG,
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Stock connect by trade date",
    tasks=("exchange_sync",),
    interfaces=(
        timeseries("get_northbound_daily", "rows_of", "northbound daily rows", ttl=600).takes(
            channel="north", start_date=DAY, end_date=DAY, limit=120
        ),
    ),
)
