"""fusion_block_trade: block trades (大宗交易), one row per deal.

Deals have no number of their own and equal ones occur: `seq` numbers those of one day that look alike, and
of two lists the one with fewer of them counts, for a list may repeat a row. The exchange's own row wins; the
portal has what the exchange rounds or leaves out, and Beijing's deals. Deals of a date appear in the evening,
so a load takes the trade date before with it.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from core.declaration import columns as t
from core.declaration.columns import Model, Received, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import DAY, FLOAT, TEXT, history, market
from core.declaration.rules import Contract, Needed, Rows, Soft, as_received, at_hour, trading
from core.declaration.scope import Context, Scope
from platform_assets.compute.deals import confirmed, with_deal_keys, with_numbers
from platform_assets.compute.name_spans import named
from platform_assets.datasets._events import (
    EXCHANGES,
    add_changes_after,
    by_dates,
    close_is_that_of_the_bar,
    trade_dates_only,
)
from resources.upstreams.fetch_context import FetchContext

if TYPE_CHECKING:
    from resources.upstreams.exchanges.sse import SseClient
    from resources.upstreams.exchanges.szse import SzseClient

PUBLISHED = "18:00"
_AFTER = {"d1_change_pct": 1, "d5_change_pct": 5}
_EXCHANGES = ("sse", "szse")
_WIDEST_PREMIUM = 30
_SPAN = ("code", "valid_from", "valid_to", "name", "is_st")


class BlockTrade(Model):
    """One deal."""

    code: t.Code = key("security code")
    date: t.Date = key("trade date")
    row_key: t.K16 = key("hash of price, volume, buyer, seller and number")
    seq: t.Int = col("", "number among the equal deals of the day", ge=1)
    name: t.S64 = col(title="name on the date")
    price: t.Px = col("CNY", "price of the deal", nullable=False, gt=0)
    close: t.Px = col("CNY", "closing price", ge=0)
    premium_pct: t.Pct = col("pct", "price against the close; below 0 a discount")
    volume: t.Big = col("sh", "shares dealt", nullable=False, gt=0)
    amount: t.Amt = col("CNY", "price x volume", ge=0)
    buyer: t.S128 = col(title="branch of the buyer")
    seller: t.S128 = col(title="branch of the seller")
    float_ratio_pct: t.Pct = col("pct", "volume / float shares", computed=True)
    d1_change_pct: t.Pct = col("pct", "change on the trade date after", computed=True)
    d5_change_pct: t.Pct = col("pct", "change in the five trade dates after", computed=True)


@with_columns(
    BlockTrade.code, BlockTrade.date, BlockTrade.row_key, BlockTrade.seq, BlockTrade.price, BlockTrade.close,
    BlockTrade.volume, BlockTrade.amount, BlockTrade.buyer, BlockTrade.seller, BlockTrade.premium_pct,
)  # fmt: skip
class RawBlockTrade(Model):
    """One deal as the portal's report has it."""

    premium_pct: t.Pct = col("pct", "price against the close")


@with_columns(
    BlockTrade.code, BlockTrade.date, BlockTrade.row_key, Received.src, BlockTrade.price,
    BlockTrade.premium_pct, BlockTrade.volume, BlockTrade.amount, BlockTrade.buyer, BlockTrade.seller,
)  # fmt: skip
class AuxDeal(Model):
    """The same report, stored as one of the F10 tables."""

    premium_pct: t.Pct = col("pct", "price against the close")


@with_columns(
    BlockTrade.date, BlockTrade.code, BlockTrade.row_key, "exchange", BlockTrade.name, BlockTrade.price,
    BlockTrade.volume, BlockTrade.amount, BlockTrade.buyer, BlockTrade.seller,
)  # fmt: skip
class ExchangeBlockTrade(Model):
    """One deal as its exchange publishes it, in hundreds of shares and of CNY."""

    exchange: t.S8 = col(title="exchange", isin=["SSE", "SZSE"])
    name: t.S64 = col(title="name")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One or two calls for a date of the market; the tables of one run share them."""
    return with_deal_keys(by_dates(ctx, scope, "block_trades", lambda eastmoney: eastmoney.block_trades))


def shanghai(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for the whole scope."""
    return _official(ctx.sse, scope)


def shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for twenty deals: about five a date."""
    return _official(ctx.szse, scope)


def _official(exchange: "SseClient | SzseClient", scope: Scope) -> pd.DataFrame:
    rows: pd.DataFrame = with_deal_keys(exchange.block_trades(scope.since, scope.until))
    requested = rows["date"].isin(list(scope.dates)) & rows["code"].map(scope.covers).astype(bool)
    return rows[requested].reset_index(drop=True)


def numbered(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The number that the key was made of."""
    return with_numbers(rows)


def _rounding(size: float) -> Any:
    """Half a digit of the exchanges' 万股 or 万元; the portal's own figures have none."""

    def of(rows: pd.DataFrame) -> pd.Series:
        return pd.Series(size, index=rows.index).where(rows["src"].isin(list(_EXCHANGES)))

    return of


def add_close_and_name(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills close, premium and name where no source of the row has them."""
    bar = context.stored_column(rows, "fusion_kline_daily", "close")
    rows["close"] = rows["close"].fillna(bar)
    premium = (rows["price"] / rows["close"].where(rows["close"] > 0) - 1) * 100
    rows["premium_pct"] = rows["premium_pct"].fillna(premium)
    spans = context.read("ref_name_history", columns=_SPAN, codes=sorted(set(rows["code"])))
    names = pd.Series(named(rows, spans).name, index=rows.index)
    rows["name"] = rows["name"].where(rows["name"].notna(), names)
    return rows


def add_float_ratio(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    cap = context.stored_column(rows, "fusion_valuation", "float_market_cap", trusted=True) * 1e4
    worth = rows["volume"].astype(float) * rows["close"]
    rows["float_ratio_pct"] = worth / cap.where(cap > 0) * 100
    return rows


def add_changes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    return add_changes_after(rows, context, _AFTER)


def amount_is_price_times_volume(rows: pd.DataFrame, context: Context) -> pd.Series:
    expected = rows["price"] * rows["volume"].astype(float)
    return ~((rows["amount"] - expected).abs() > 0.01 * rows["amount"])


def premium_is_believable(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["premium_pct"].abs() > _WIDEST_PREMIUM)


def is_no_repetition(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A deal that looks like another one is in the exchange's list as often as in the portal's, where both
    have it."""
    lists = rows["src"].map(lambda src: "exchange" if src in _EXCHANGES else "portal")
    return confirmed(rows, lists)


def has_buyer_and_seller(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["buyer"].notna() & rows["seller"].notna()


DATASET = Dataset(
    name="block_trade",
    subject="trading",
    title="Block trades",
    model=BlockTrade,
    adjusted=tuple(_AFTER),
    domain="daily",
    late=5,
    raw=(
        Raw(
            name="block_trade",
            history=250,
            title="Block trades as the portal reports them",
            model=RawBlockTrade,
            sources=(Source("eastmoney", portal, parts=EXCHANGES),),
            late=1,
        ),
        Raw(
            name="aux_dzjy",
            history=250,
            tasks=("fusion_daily_sync", "eod_core"),
            also_tasks=("aux_f10_events_sync",),
            title="Block trades beside the F10 tables: the portal's report once more, no further call",
            model=AuxDeal,
            sources=(Source("em_f10", portal, parts=EXCHANGES),),
            late=1,
        ),
        Raw(
            name="exchange_block_trade",
            title="Block trades as Shanghai and Shenzhen publish them",
            model=ExchangeBlockTrade,
            sources=(Source("sse", shanghai, parts=("SSE",)), Source("szse", shenzhen, parts=("SZSE",))),
            combine="all",
            late=1,
            freshness=trading(7),
            topical=True,
        ),
    ),
    feeds={"exchange_block_trade": numbered, "raw_block_trade": as_received, "aux_dzjy": numbered},
    order=("sse", "szse", "eastmoney", "em_f10"),
    fuse=Rows(
        finer={"volume": _rounding(50.01), "amount": _rounding(51.0)},
        finer_source="eastmoney",
        fills=("name", "close", "premium_pct"),
    ),
    contract=(
        Contract(trade_dates_only, "no trade date"),
        Contract(is_no_repetition, "another list has fewer deals that look like this one"),
    ),
    derive=(add_close_and_name, add_float_ratio, add_changes),
    soft=(
        Soft(amount_is_price_times_volume, "amount differs from price x volume by more than 1 %"),
        Soft(close_is_that_of_the_bar, "the reported close is not that of the day's bar"),
        Soft(premium_is_believable, "more than 30 % off the close"),
        Soft(has_buyer_and_seller, "no buyer or no seller"),
    ),
    reads=("fusion_kline_daily", "fusion_valuation", "ref_name_history"),
    needs=(Needed("fusion_valuation", ("float_ratio_pct",)),),
    public_at=at_hour("date", PUBLISHED),
    later=tuple(_AFTER),
    freshness=trading(7),
    may_be_empty=True,  # nothing is out before the evening, and a quiet day has no deal
    tasks=("fusion_daily_sync", "eod_core", "exchange_sync"),
    interfaces=(
        history("get_block_trade_history", "block trades of a code by date", 600, 60),
        market("get_block_trade_by_date", "by_date", "block trades of all codes on one date", ttl=600).takes(
            trade_date=DAY, sort=TEXT, limit=200, offset=0, min_premium=FLOAT, max_premium=FLOAT
        ),
        market(
            "get_exchange_block_trade",
            "by_date",
            "block trades as Shanghai and Shenzhen publish them, on one date",
            ttl=600,
            table="exchange_block_trade",
        ).takes(trade_date=DAY, exchange=TEXT, limit=200),
    ),
)
