"""raw_futures: every contract of the six futures exchanges by trade date, from their own daily files.

The files come out between 15:30 and 17:00: that of a date is asked for from 17:00 on, and a load takes the
trade date before with it. Where an exchange does not answer, the portal has the contracts that were its
main ones.
"""

from collections.abc import Callable
from functools import partial

import pandas as pd

from core.declaration.columns import S8, S16, S64, Amt, Big, Bool, Date, Model, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, TEXT, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from core.errors import NotServed, PayloadError, Unavailable, UpstreamError
from platform_assets.compute.futures_terms import main_of_day
from resources.upstreams.eastmoney.quotes.futures import MARKETS
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.hosts import PORTAL_HISTORY

EXCHANGES = ("shfe", "ine", "cffex", "dce", "czce", "gfex")
PUBLISHED = "17:00"
_MOST_DATES = 5
_LOOK_BACK = 10
_KNOWN = ("symbol", "date", "product", "exchange", "name", "settle", "open_interest", "is_main")


class Futures(Model):
    """One contract on one date. Night trading belongs to the date after it."""

    symbol: S16 = key("product and month of delivery, as au2612")
    date: Date = key("trade date")
    product: S16 = col(title="letters of the product", nullable=False)
    exchange: S8 = col(
        title="SHFE, INE, CFFEX, DCE, CZCE, GFEX", nullable=False, isin=[name.upper() for name in EXCHANGES]
    )
    name: S64 = col(title="Chinese name and month")
    open: Px = col("point", "open; none without a trade", gt=0)
    high: Px = col("point", "high", gt=0)
    low: Px = col("point", "low", gt=0)
    close: Px = col("point", "close", gt=0)
    settle: Px = col("point", "settlement price", gt=0)
    prev_settle: Px = col("point", "settlement price of the trade date before", gt=0)
    volume_contracts: Big = col("contracts", "contracts traded, counted once", ge=0)
    open_interest: Big = col("contracts", "contracts open at the end, counted once", ge=0)
    oi_change: Big = col("contracts", "change of the contracts open")
    amount_wan: Amt = col("wan", "turnover", ge=0)
    is_main: Bool = col(title="the contract of its product that is held most")


def _daily(ctx: FetchContext, exchange: str, day: str) -> pd.DataFrame:
    """The file of an exchange, asked once per run. NotServed without one: every trade date has one."""
    rows = ctx.once(("futures", exchange, day), lambda view: view.futures(exchange).daily(day))
    if rows.empty:
        raise NotServed(f"{exchange}: no file of {day}", source=exchange)
    return rows


def _out(ctx: FetchContext, scope: Scope) -> list[str]:
    """The dates whose files are out."""
    now = ctx.clock.now().strftime("%Y-%m-%d %H:%M")
    return [day for day in scope.dates if f"{day} {PUBLISHED}" <= now]


def of_exchange(ctx: FetchContext, scope: Scope, exchange: str) -> pd.DataFrame:
    """One call per date."""
    rows = stacked(ctx.each(partial(_daily, ctx, exchange), _out(ctx, scope)), ["symbol", "date"])
    return rows.assign(is_main=main_of_day(rows)) if len(rows) else rows


def few_dates(ctx: FetchContext, scope: Scope) -> bool:
    return len(scope.dates) <= _MOST_DATES


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per main contract, of the exchanges whose file could not be had; mostly none. They are counted
    together: when several exchanges are away there are more of them than the portal's host answers."""
    missing: dict[str, tuple[str, pd.Series]] = {}
    for exchange in EXCHANGES:
        for day in _out(ctx, scope):
            try:
                _daily(ctx, exchange, day)
            except (UpstreamError, PayloadError, Unavailable):
                missing |= {
                    f"{exchange} {row['symbol']} {day}": (day, row) for row in _mains(ctx, exchange, day)
                }

    def bars(key: str) -> pd.DataFrame:
        day, reported = missing[key]
        return _bars_of(ctx, day, reported)

    return stacked(ctx.each(bars, missing, site=PORTAL_HISTORY), ["symbol", "date"])


def _mains(ctx: FetchContext, exchange: str, day: str) -> list[pd.Series]:
    """The contracts that were the main ones when the exchange last answered."""
    since = ctx.calendar.offset(day, -_LOOK_BACK)
    known = ctx.read("raw_futures", columns=_KNOWN, since=since, until=ctx.calendar.offset(day, -1))
    known = known[known["exchange"] == exchange.upper()]
    known = known[(known["date"] == known["date"].max()) & known["is_main"].fillna(False).astype(bool)]
    return [row for _, row in known.iterrows()]


def _bars_of(ctx: FetchContext, day: str, reported: pd.Series) -> pd.DataFrame:
    """The portal's bar of one contract, with what was last reported of it."""
    secid = f"{MARKETS[str(reported['exchange']).lower()]}.{reported['symbol']}"
    bars: pd.DataFrame = ctx.eastmoney.futures_bars(secid, day, day)
    is_next = reported["date"] == ctx.calendar.offset(day, -1)
    return bars.assign(
        symbol=reported["symbol"],
        product=reported["product"],
        exchange=reported["exchange"],
        name=reported["name"],
        prev_settle=reported["settle"] if is_next else None,
        oi_change=bars["open_interest"] - reported["open_interest"] if is_next else None,
        is_main=True,
    )


def _source(exchange: str) -> Source:
    fetch: Callable[[FetchContext, Scope], pd.DataFrame] = partial(of_exchange, exchange=exchange)
    return Source(exchange, fetch, parts=(exchange.upper(),))


DATASET = Raw(
    name="futures",
    title="Daily figures of every futures contract",
    model=Futures,
    sources=(*(_source(exchange) for exchange in EXCHANGES), Source("eastmoney", portal, few_dates)),
    combine="all",
    late=1,
    freshness=trading(2),
    topical=True,
).alone(
    subject="other_securities",
    title="Futures contracts by trade date",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        timeseries("get_futures_daily", "contract_bars", "futures bars", ttl=600).takes(
            symbol=REQUIRED, start_date=DAY, end_date=DAY, limit=250
        ),
        market("get_futures_list", "by_date", "contracts of a day", ttl=600).takes(
            trade_date=DAY, exchange=TEXT
        ),
    ),
)
