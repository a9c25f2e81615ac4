"""exchange_overview: what the exchanges say that their markets traded and are worth, by class and date.

Shanghai and Shenzhen publish it; Beijing's sums, and those of an exchange that does not answer, are made of
our own quotes.
"""

from collections.abc import Callable

import pandas as pd

from core.declaration.columns import S8, S32, Amt, Big, Date, F, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, TEXT, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from resources.upstreams.fetch_context import FetchContext, whole_market

STOCKS = "股票"
EXCHANGES = {"SH": "SSE", "SZ": "SZSE", "BJ": "BSE"}
_WAN_PER_YI, _PER_YI = 1e4, 1e8
_QUOTES = ("code", "trade_date", "src", "market", "sec_type", "price", "volume", "amount", "total_market_cap",
           "float_market_cap")  # fmt: skip


class ExchangeOverview(Model):
    """One class of securities of one exchange on one date."""

    trade_date: Date = key("trade date")
    exchange: S8 = key("SSE, SZSE or BSE", isin=list(EXCHANGES.values()))
    sec_class: S32 = key("class in the exchange's words; 股票: all stocks")
    listed_count: Int = col("", "securities listed", ge=0)
    total_market_cap_yi: Amt = col("yi", "worth of all shares", ge=0)
    float_market_cap_yi: Amt = col("yi", "worth of the float", ge=0)
    amount_yi: Amt = col("yi", "turnover", ge=0)
    volume_yi: F = col("yi_sh", "shares traded", ge=0)
    deal_count: Big = col("", "deals", no_source="no exchange publishes it by day")
    pe_ratio: F = col("", "mean price / earnings")
    turnover_pct: Pct = col("pct", "turnover / worth of all shares", ge=0)


def _by_date(ctx: FetchContext, scope: Scope, ask: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    return stacked(ctx.each(ask, scope.dates), ["trade_date"])


def shanghai(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call a date."""
    return _by_date(ctx, scope, ctx.sse.overview)


def shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call a date."""
    return _by_date(ctx, scope, ctx.szse.overview)


def own_quotes(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Sums over the stocks of each exchange, of the first source that has a quote of each."""
    rows = ctx.read("raw_quote", columns=_QUOTES, **scope.span)
    rows = rows[(rows["sec_type"] == "stock") & rows["market"].isin(list(EXCHANGES)) & rows["price"].notna()]
    rows = rows[rows["trade_date"].isin(list(scope.dates))]
    # First the site that has market caps.
    rows = rows.sort_values("src", key=lambda src: src != "tencent", kind="stable")
    rows = rows.drop_duplicates(["code", "trade_date"])
    made = []
    for (day, place), held in rows.groupby(["trade_date", "market"]):
        cap, floating, traded, volume = (
            held[name].astype(float).sum(min_count=1)
            for name in ("total_market_cap", "float_market_cap", "amount", "volume")
        )
        made.append(
            {
                "trade_date": day,
                "exchange": EXCHANGES[place],
                "sec_class": STOCKS,
                "listed_count": len(held),
                "total_market_cap_yi": cap / _WAN_PER_YI,
                "float_market_cap_yi": floating / _WAN_PER_YI,
                "amount_yi": traded / _PER_YI,
                "volume_yi": volume / _PER_YI,
                "turnover_pct": traded / cap / _WAN_PER_YI * 100 if cap > 0 else None,
            }
        )
    return pd.DataFrame(made) if made else pd.DataFrame(columns=["trade_date"])


DATASET = Raw(
    name="exchange_overview",
    title="Turnover and worth of the exchanges' markets, by class",
    model=ExchangeOverview,
    sources=(
        Source("sse", shanghai, parts=("SSE",)),
        Source("szse", shenzhen, parts=("SZSE",)),
        Source("derived", own_quotes, only_when=whole_market),
    ),
    combine="all",
    reads=("raw_quote",),
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Official totals of the markets",
    tasks=("exchange_sync",),
    interfaces=(
        market("get_exchange_overview", "by_date", "official market totals", ttl=600).takes(
            trade_date=DAY, exchange=TEXT
        ),
        timeseries("get_exchange_overview_history", "rows_of", "official totals series", ttl=600).takes(
            exchange="SSE", limit=120
        ),
    ),
)
