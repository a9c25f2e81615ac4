"""calc_breadth_sample: how many stocks rise and fall, every five minutes of a session.

A sample is what quotes say at its moment; a moment that has passed cannot be asked for again, so there are
no partitions and no gaps to repair. A sensor asks for it (`SCHEDULER_WARMUP_MARKET`), not a task.
"""

from datetime import datetime

import numpy as np
import pandas as pd

from core.declaration.columns import Amt, Bool, Date, Dt, Int, Model, Pct, col, key
from core.declaration.dataset import MIN_COVERAGE, Dataset, Source
from core.declaration.interfaces import market
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.errors import PayloadError
from core.market.names import is_st
from core.market.rules import limit_prices
from platform_assets.compute.breadth import breadth
from resources.upstreams.fetch_context import FetchContext

EVERY_MIN = 5
MAIN_INDEX = "sh000001"
SESSIONS = (("09:30", "11:30"), ("13:00", "15:00"))
_COLUMNS = ["price", "last_close", "limit_up", "limit_down", "volume", "amount", "main_net"]


class BreadthSample(Model):
    """One moment. Counts are of stocks that have traded that day."""

    sample_time: Dt = key("moment, a whole five minutes")
    trade_date: Date = col(title="trade date of the session", nullable=False)
    up_count: Int = col("", "stocks above their reference price", nullable=False, ge=0)
    down_count: Int = col("", "stocks below it", nullable=False, ge=0)
    flat_count: Int = col("", "stocks at it", nullable=False, ge=0)
    limit_up_count: Int = col("", "stocks at the limit-up price", nullable=False, ge=0)
    limit_down_count: Int = col("", "stocks at the limit-down price", nullable=False, ge=0)
    amount: Amt = col("CNY", "turnover so far", nullable=False, ge=0)
    main_net: Amt = col("CNY", "main net inflow so far; only the portal tells it")
    index_change_pct: Pct = col("pct", f"change of the main index ({MAIN_INDEX})")
    sample_based: Bool = col(title="an estimate from some stocks; such a one is not stored")


def sample_time(now: datetime) -> datetime | None:
    """The sample that a moment belongs to; None outside the two sessions."""
    if not any(since <= now.strftime("%H:%M") <= until for since, until in SESSIONS):
        return None
    return now.replace(minute=now.minute - now.minute % EVERY_MIN, second=0, microsecond=0)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Quotes of all stocks, 80 a call, and of the main index; limits by the rules of the exchanges. They
    carry no date."""
    stocks = _stocks(ctx)
    quotes = ctx.tdx.quotes([*stocks["symbol"], MAIN_INDEX])
    index = quotes[quotes["symbol"] == MAIN_INDEX]
    quotes = quotes[~quotes["unknown"]].merge(stocks[["symbol", "name"]], on="symbol")
    return _sample(ctx, scope, stocks, quotes, index)


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same from the quote site, 60 a call."""
    stocks = _stocks(ctx)
    quotes = ctx.tencent.quotes([*stocks["symbol"], MAIN_INDEX])
    return _sample(ctx, scope, stocks, quotes, quotes[quotes["symbol"] == MAIN_INDEX])


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The portal's list of all A shares, 100 a call, with the money flow of the session."""
    return _sample(ctx, scope, _stocks(ctx), ctx.portal_list(), ctx.eastmoney.ulist([MAIN_INDEX]))


def _stocks(ctx: FetchContext) -> pd.DataFrame:
    """The stocks of a sample, the same for every source: symbol, name, board, list_date. They are the stored
    ones, so that a sample does not list the market again; one that is first traded today is not among
    them."""
    columns = ("code", "market", "name", "sec_type", "board", "list_status", "list_date")
    stored = ctx.read("fusion_stock_master", columns=columns)
    known = stored["market"].isin(["SH", "SZ", "BJ"]) & ~stored["list_status"].isin(["D", "R"])
    stocks = stored[known & (stored["sec_type"] == "stock")]
    if stocks.empty:
        listed = ctx.securities()
        stocks = listed[listed["sec_type"] == "stock"].assign(list_date=None)
    stocks = stocks.assign(symbol=stocks["market"].str.lower() + stocks["code"])
    return pd.DataFrame(stocks[["symbol", "name", "board", "list_date"]])


def _sample(
    ctx: FetchContext, scope: Scope, stocks: pd.DataFrame, quotes: pd.DataFrame, index: pd.DataFrame
) -> pd.DataFrame:
    """One row, or none outside a session. PayloadError when too few of `stocks` are quoted today: a part of
    the market is not the market, and the day before is no sample."""
    now = ctx.clock.now()
    at = sample_time(now)
    if at is None or ctx.today != scope.until or not ctx.calendar.is_trade_date(ctx.today):
        return pd.DataFrame(columns=list(BreadthSample.to_schema().columns))
    quotes = quotes.drop(columns=["board", "list_date"], errors="ignore")
    rows = quotes.merge(stocks.drop(columns="name"), on="symbol")
    if "trade_date" in rows.columns:  # one that does not trade may show the date of its last trade
        rows = rows[(rows["trade_date"] == ctx.today) | ~(rows["volume"] > 0).fillna(False)]
    if len(rows) < MIN_COVERAGE * len(stocks):
        raise PayloadError(f"quotes of {ctx.today}: {len(rows)} of {len(stocks)} stocks")
    if "limit_up" not in rows.columns or rows["limit_up"].isna().all():
        rows = _limited(ctx, rows)
    reported = breadth(rows.reindex(columns=_COLUMNS))
    return pd.DataFrame(
        [
            {
                "sample_time": at.strftime("%Y-%m-%d %H:%M:%S"),
                "trade_date": ctx.today,
                **reported,
                "index_change_pct": _change(index),
                "sample_based": False,
            }
        ]
    )


def _limited(ctx: FetchContext, rows: pd.DataFrame) -> pd.DataFrame:
    """With limits by the rules: of the board, special treatment and the days since the listing."""
    recent = ctx.calendar.last(6, ctx.today)
    days = np.full(len(rows), 0, dtype=np.int64)
    for number, day in enumerate(reversed(recent), start=1):
        days[(rows["list_date"] == day).to_numpy(dtype=bool, na_value=False)] = number
    up, down = limit_prices(
        rows["last_close"].to_numpy(dtype=float, na_value=np.nan),
        rows["board"].to_numpy(dtype=str),
        rows["name"].fillna("").map(is_st).to_numpy(dtype=bool),
        np.full(len(rows), ctx.today),
        listed_days=days,
    )
    return rows.assign(limit_up=up, limit_down=down)


def _change(index: pd.DataFrame) -> float | None:
    if index.empty or not index["last_close"].iloc[0] > 0:
        return None
    return round((float(index["price"].iloc[0]) / float(index["last_close"].iloc[0]) - 1) * 100, 4)


DATASET = Dataset(
    name="breadth_sample",
    subject="market",
    title="Market breadth every five minutes",
    layer=Layer.CALC,
    model=BreadthSample,
    date_column="trade_date",
    partition=Partition.SNAPSHOT,
    sources=(Source("tdx", terminal), Source("tencent", quote_site), Source("eastmoney", portal)),
    reads=("fusion_stock_master",),
    of_stocks=False,
    monitored=False,
    may_be_empty=True,
    interfaces=(
        market("get_breadth_intraday", "newest_days", "5-minute breadth samples", ttl=60).takes(days=5),
    ),
)
