"""raw_quote: full-market quote batches as received (one row per source), and their fused snapshot.

raw_quote feeds the security master, the valuation and the quote snapshot; this file owns it.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from core.declaration import columns as t
from core.declaration import rules
from core.declaration.columns import EVENING, Model, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import (
    REQUIRED,
    REQUIRED_TEXTS,
    batch,
    by_date,
    history,
    latest,
    market,
    stock,
    timeseries,
)
from core.declaration.scope import Context, Scope
from core.errors import NotServed
from core.price_identity import of_this_instrument
from platform_assets.compute.day_limits import limit_status
from resources.upstreams.fetch_context import FetchContext, current_session


class RawQuote(Model):
    """One security as one upstream quoted it."""

    code: t.Code = key("security code")
    trade_date: t.Date = key("session of the quote")
    src: t.K32 = key("upstream")
    name: t.S64 = col(title="name as shown")
    market: t.S4 = col(title="SH, SZ, BJ")
    sec_type: t.S8 = col(title="stock, etf, lof, cb, reit")
    list_status: t.S4 = col(title="L listed, S suspended, D delisted, P before listing")
    list_date: t.Date = col(title="listing date")
    price: t.Px = col("CNY", "last price", ge=0)
    open: t.Px = col("CNY", "opening price", ge=0)
    high: t.Px = col("CNY", "highest price", ge=0)
    low: t.Px = col("CNY", "lowest price", ge=0)
    last_close: t.Px = col("CNY", "ex-right reference price", ge=0)
    change_pct: t.Pct = col("pct", "change as the upstream shows it")
    volume: t.Big = col("sh", "shares traded", ge=0)
    amount: t.Amt = col("CNY", "turnover", ge=0)
    turnover_pct: t.Pct = col("pct", "turnover rate")
    volume_ratio: t.F = col("", "volume against the 5-day mean")
    amplitude_pct: t.Pct = col("pct", "(high - low) / reference price")
    speed_pct: t.Pct = col("pct", "change over 5 minutes")
    pe_ttm: t.F = col("", "price / earnings, trailing")
    pe_static: t.F = col("", "price / earnings, last year")
    pe_dynamic: t.F = col("", "price / earnings, annualised")
    pb: t.F = col("", "price / book")
    total_market_cap: t.Amt = col("wan", "total market cap", ge=0)
    float_market_cap: t.Amt = col("wan", "float market cap", ge=0)
    limit_up: t.Px = col("CNY", "limit-up price")
    limit_down: t.Px = col("CNY", "limit-down price")
    total_shares: t.Big = col("sh", "total shares", ge=0)
    float_shares: t.Big = col("sh", "float shares", ge=0)
    bid1: t.Px = col("CNY", "best bid", ge=0)
    ask1: t.Px = col("CNY", "best ask", ge=0)
    bid1_vol: t.Big = col("sh", "shares at the best bid", ge=0)
    ask1_vol: t.Big = col("sh", "shares at the best ask", ge=0)
    quote_time: t.Dt = col(title="time of the quote", varies=EVENING)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """List and quotes of the terminal source; it has no valuation, caps, limits or listing dates. A past
    date comes from its daily bars: no book, and no name beyond the newest session (today's would be of
    another day). A range that ends in the current session has both."""
    if not ctx.is_current_session(scope.until):
        return _from_bars(ctx, scope)
    now = _of_the_session(ctx, scope)
    if not scope.is_range:
        return now
    earlier = _from_bars(ctx, replace(scope, dates=scope.dates[:-1]))
    return pd.concat([earlier, now], ignore_index=True)


def _of_the_session(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    quotes = ctx.terminal_quotes()
    identity = ctx.securities()[["symbol", "name", "sec_type"]]
    rows = quotes[~quotes["unknown"]].merge(identity, on="symbol", how="inner")
    ctx.note_not_served(filter(scope.covers, ctx.securities()["code"]), rows["code"], "no quote")
    rows = rows[rows["code"].isin(list(scope.codes))] if scope.codes is not None else rows
    day = scope.until
    rows = rows.assign(trade_date=day, list_status=np.where(rows["suspended"], "S", "L"))
    rows["quote_time"] = day + " " + rows["quote_time"].astype(object)
    rows["change_pct"] = (rows["price"] / rows["last_close"].where(rows["last_close"] > 0) - 1) * 100
    idle = rows["suspended"].to_numpy(dtype=bool)
    rows.loc[idle, ["change_pct", "open", "high", "low"]] = np.nan
    rows.loc[idle, "price"] = rows.loc[idle, "last_close"]
    return pd.DataFrame(rows)


def _from_bars(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    requested = len(ctx.calendar.between(scope.since, ctx.today)) + 1
    identity = ctx.securities()[["symbol", "code", "market", "sec_type", "name"]]

    def one(symbol: str) -> pd.DataFrame:
        bars = pd.DataFrame(ctx.terminal_bars(symbol, requested))
        if bars.empty:
            raise NotServed(f"{symbol}: no series of bars")
        return bars[bars["date"].isin(list(scope.dates))].assign(symbol=symbol)

    bars = stacked(ctx.each(one, ctx.symbols(scope.codes)), ["code", "trade_date"])
    if bars.empty:
        return bars
    bars = bars.drop(columns=["code", "market"], errors="ignore")
    rows = bars.merge(identity, on="symbol").rename(columns={"date": "trade_date", "close": "price"})
    rows["quote_time"] = rows["trade_date"] + " 15:00:00"
    # The bar of a suspended day holds the reference price, at which nobody traded.
    rows.loc[rows["volume"].fillna(0) == 0, ["open", "high", "low"]] = np.nan
    # Since the newest session none has ended: the list still shows the names of that day, and of no other.
    rows["name"] = rows["name"].where(rows["trade_date"] == ctx.newest_finished(), None)
    return pd.DataFrame(rows)


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The quote site's batch: valuation, caps, limits and shares, 60 symbols a call."""
    rows = ctx.site_quotes()
    ctx.note_not_served(filter(scope.covers, ctx.securities()["code"]), rows["code"], "no quote")
    rows = rows[rows["code"].isin(list(scope.codes))] if scope.codes is not None else rows
    return rows.assign(trade_date=scope.until).pipe(_same_day, rows, scope)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The portal's list of all A shares: listing dates, shares, caps, ratios, 5-minute speed. While a later
    session runs its quotes are of another date: then only the listed codes and their listing dates are
    used."""
    rows = ctx.portal_list()
    rows = rows[rows["code"].isin(list(scope.codes))] if scope.codes is not None else rows
    if not current_session(ctx, scope):
        listed = rows[rows["list_date"].notna() & (rows["list_date"] <= scope.until)]
        return listed[["code", "name", "market", "sec_type", "list_date"]].assign(trade_date=scope.until)
    return rows.assign(trade_date=scope.until).pipe(_same_day, rows, scope)


def session_or_listings(ctx: FetchContext, scope: Scope) -> bool:
    """For `Source(only_when=…)`: a quote of now is of the scope's session, or the security master knows no
    listing date yet, which the list has at any time (a first start while a session runs)."""
    if scope.is_range or current_session(ctx, scope):
        return not scope.is_range
    return not ctx.read("fusion_stock_master", columns=("list_date",))["list_date"].notna().any()


def _same_day(frame: pd.DataFrame, quoted: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """A quote of another day keeps that day: the check of the whole answer then refuses a stale one."""
    traded = quoted["volume"].fillna(0) > 0
    frame["trade_date"] = frame["trade_date"].where(
        ~(traded & quoted["trade_date"].notna()), quoted["trade_date"]
    )
    return frame


def _listed_stocks(ctx: FetchContext, scope: Scope) -> int:
    """The portal's list holds A shares only, so only these are promised of every source; of past dates those
    that were listed by then."""
    stocks = ctx.securities().query("sec_type == 'stock'")["code"]
    if ctx.is_current_session(scope.since):
        return len(stocks)
    known = ctx.read("fusion_stock_master", columns=("code", "list_date"))
    later = known.loc[known["list_date"].notna() & (known["list_date"] > scope.since), "code"]
    return int((~stocks.isin(later)).sum())


# -- the fused snapshot -----------------------------------------------------------------------------


_HALF_CNY = 0.5
"""The quote site has amounts in whole CNY."""


@with_columns(
    RawQuote.code, RawQuote.trade_date, RawQuote.name, RawQuote.price, RawQuote.open, RawQuote.high,
    RawQuote.low, RawQuote.last_close, "change_amt", RawQuote.change_pct, RawQuote.volume, RawQuote.amount,
    RawQuote.turnover_pct, RawQuote.volume_ratio, RawQuote.amplitude_pct, RawQuote.speed_pct, RawQuote.pe_ttm,
    RawQuote.pb, RawQuote.total_market_cap, RawQuote.float_market_cap, RawQuote.limit_up, RawQuote.limit_down,
    "limit_status", "is_suspended", RawQuote.bid1, RawQuote.ask1, RawQuote.bid1_vol, RawQuote.ask1_vol,
    RawQuote.quote_time,
)  # fmt: skip
class QuoteSnapshot(Model):
    """The closing quote of one security on one trade date."""

    trade_date: t.Date = key("trade date")
    price: t.Px = col("CNY", "last price", nullable=False, ge=0)
    change_amt: t.Px = col("CNY", "price - last_close", computed=True)
    change_pct: t.Pct = col("pct", "change against last_close")
    amplitude_pct: t.Pct = col("pct", "(high - low) / last_close")
    total_market_cap: t.Amt = col("wan", "total market cap")
    float_market_cap: t.Amt = col("wan", "float market cap")
    limit_status: t.S16 = col(
        title="none, up, down, up_open, down_open, no_limit; null where no limits were reported",
        computed=True,
    )
    is_suspended: t.Bool = col(title="no trade on the day", computed=True)


_STAGED = [name for name in RawQuote.to_schema().columns if name in QuoteSnapshot.to_schema().columns]


def stage_quotes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    quoted = rows[rows["price"].notna()]
    return quoted[[*_STAGED, "src"]].assign(code=quoted["code"].str.strip())


def add_change(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["change_amt"] = rows["price"] - rows["last_close"]
    return rows


def add_states(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """A past day comes from bars, which have no limits: then the status does not follow from the quote."""
    rows["is_suspended"] = rows["volume"].fillna(0) == 0
    status = limit_status(rows, price="price", traded=~rows["is_suspended"])
    quoted = rows["limit_up"].notna() | rows["limit_down"].notna() | rows["is_suspended"]
    rows["limit_status"] = pd.Series(status.astype(object), index=rows.index).where(quoted, None)
    return rows


def change_adds_up(rows: pd.DataFrame, context: Context) -> pd.Series:
    expected = (rows["price"] / rows["last_close"].where(rows["last_close"] > 0) - 1) * 100
    return expected.isna() | rows["change_pct"].isna() | ((rows["change_pct"] - expected).abs() <= 0.05)


def price_in_range(rows: pd.DataFrame, context: Context) -> pd.Series:
    traded = rows["volume"] > 0
    return ~(traded & ((rows["price"] < rows["low"]) | (rows["price"] > rows["high"])))


def price_within_limits(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["price"] > rows["limit_up"] + 0.0001) | (rows["price"] < rows["limit_down"] - 0.0001))


def quoted_on_the_date(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["quote_time"].isna() | (rows["quote_time"].str.slice(0, 10) == rows["trade_date"])


QUOTE = Raw(
    name="quote",
    gaps=True,
    title="Full-market quote batch",
    model=RawQuote,
    combine="all",
    sources=(
        Source("tencent", quote_site, only_when=current_session),
        Source("tdx", terminal),
        Source("eastmoney", portal, only_when=session_or_listings),
    ),
    expected=_listed_stocks,
    contract=(rules.Contract(of_this_instrument, "previous close of another instrument"),),
    may_be_empty=False,
)


def volume_rounding(rows: pd.DataFrame) -> pd.Series:
    """A lot, which one of two sources may have cut and the other rounded up."""
    return pd.Series(100.0, index=rows.index).where(rows["src"] != rows["stored_src"])


DATASET = Dataset(
    name="quote_snapshot",
    subject="securities",
    title="Closing quotes",
    model=QuoteSnapshot,
    domain="daily",
    raw=(QUOTE,),
    feeds={"raw_quote": stage_quotes},
    order=("tencent", "tdx", "eastmoney"),
    fuse=rules.Fields(
        # The portal's caps have more decimals than the quote site's, and its amounts are to the fen: one that
        # is not the others', rounded less, belongs to another instrument or another moment.
        order=dict.fromkeys(("total_market_cap", "float_market_cap"), ("eastmoney", "tencent")),
        finer={"amount": ("eastmoney", _HALF_CNY)},
        tolerance={"price": 0.0, "volume": 0.001, "amount": 0.001},
    ),
    unchanged_within={"volume": volume_rounding},
    derive=(add_change, add_states),
    soft=(
        rules.Soft(change_adds_up, "change_pct does not follow from price and last_close"),
        rules.Soft(price_in_range, "price outside the day's range"),
        rules.Soft(price_within_limits, "price outside the limits"),
        rules.Soft(quoted_on_the_date, "quoted on another date"),
    ),
    public_at=rules.close_of("trade_date"),
    freshness=rules.trading(1, "trade_date"),
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        latest("get_quote_snapshot", "newest closing quote of a code", 60),
        batch("get_quote_snapshot_batch", "newest closing quotes of many codes", 60),
        history("get_quote_snapshot_history", "closing quotes of a code by date", 300),
        by_date("get_quote_snapshot_by_date", "closing quotes of the market on one date", 300),
        stock("get_realtime_quote", "live_quotes", "map code -> live quote", ttl=3, returns="object").takes(
            codes=REQUIRED_TEXTS
        ),
        stock(
            "get_realtime_orderbook", "live_order_book", "five-level order book", ttl=3, returns="object|null"
        ).takes(code=REQUIRED),
        stock("get_realtime_ticks", "live_ticks", "last trades", ttl=3).takes(code=REQUIRED, limit=100),
        timeseries("get_realtime_minute_kline", "live_minute_kline", "live minute bars", ttl=30).takes(
            code=REQUIRED, period=5
        ),
        market("get_realtime_market_stat", "live_market_stat", "market totals", ttl=10, returns="object"),
    ),
)
