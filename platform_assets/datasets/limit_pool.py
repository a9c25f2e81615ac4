"""raw_limit_pool: stocks at a price limit on a date, as the portal's pools list them.

Bars show as well which stocks closed at a limit (`limit_status` of fusion_kline_daily); the pools add what
bars cannot: when it was sealed and how often it broke, the money in the queue, the streak. The portal goes
about twenty trade dates back, so what is not stored day by day cannot be had later; the topic portal goes
back a year and has three of the five pools, without Beijing.
"""

from collections.abc import Callable

import pandas as pd

from core.declaration.columns import S8, S32, S64, Amt, Code, Date, Int, Model, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from resources.upstreams.fetch_context import FetchContext, within_last

POOLS = ("up", "broken", "down", "prev", "strong")
TOPIC_POOLS = ("up", "broken", "down")


class RawLimitPool(Model):
    """One stock in one pool on one date. `prev` are the limit-ups of the trade date before: first seal and
    boards are of then, prices of the date."""

    trade_date: Date = key("trade date")
    pool: S8 = key("up sealed, broken touched and not held, down, prev, strong", isin=list(POOLS))
    code: Code = key("security code")
    name: S64 = col(title="name", nullable=False)
    price: Px = col("CNY", "last price", nullable=False, gt=0)
    change_pct: Pct = col("pct", "change of the day")
    amount: Amt = col("CNY", "turnover", ge=0)
    float_market_cap: Amt = col("wan", "float market cap", ge=0)
    turnover_pct: Pct = col("pct", "turnover rate", ge=0)
    seal_fund: Amt = col("CNY", "money in the queue at the limit", ge=0)
    first_seal_time: S8 = col(title="HH:MM:SS of the first seal")
    last_seal_time: S8 = col(title="HH:MM:SS of the last seal")
    break_times: Int = col("", "times that the seal broke", ge=0)
    limit_days: Int = col("", "consecutive boards (limit-downs in `down`)", ge=1)
    zt_stat: S32 = col(title="N天M板: M boards in N days")
    industry: S64 = col(title="industry, four characters at most at the portal")
    amplitude_pct: Pct = col("pct", "amplitude", ge=0)


def _of_scope(ask: Callable[[str, str], pd.DataFrame], pools: tuple[str, ...], scope: Scope) -> pd.DataFrame:
    """`ask(pool, day)` for every pool and date; rows of the scope's codes."""
    found = (ask(pool, day) for day in scope.dates for pool in pools)
    rows = stacked(found, ["trade_date", "pool", "code"])
    return rows[rows["code"].map(scope.covers).astype(bool)]


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Five calls a date."""
    return _of_scope(ctx.eastmoney.limit_pool, POOLS, scope)


def topic_portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Three calls a date; without the pools `prev` and `strong`, without industry and amplitude. The tables
    of one run share the limit-ups."""
    return _of_scope(lambda pool, day: topic_pool(ctx, pool, day), TOPIC_POOLS, scope)


def topic_pool(ctx: FetchContext, pool: str, day: str) -> pd.DataFrame:
    """A pool of the topic portal, asked once per run."""
    return ctx.once(("ths pool", pool, day), lambda view: view.ths.limit_pool(pool, day))


DATASET = Raw(
    name="limit_pool",
    title="Stocks at a price limit, day by day: sealed, broken, down, of the day before, strong",
    model=RawLimitPool,
    sources=(
        Source("eastmoney", portal, within_last(20), parts=POOLS),
        Source("ths", topic_portal, within_last(240), parts=TOPIC_POOLS),
    ),
    # A stock that left a pool before the close must not stay in it.
    replace_by=("trade_date",),
    freshness=trading(1, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Limit pools",
    tasks=("market_phase_sync", "eod_core"),
    interfaces=(
        market(
            "get_limit_pool", "by_date", "stored limit pool of a day", ttl=60, order="first_seal_time"
        ).takes(trade_date=DAY, pool="up"),
        market(
            "get_limit_ladder", "limit_ladder", "consecutive-board ladder", ttl=60, returns="object"
        ).takes(trade_date=DAY),
        timeseries("get_limit_history", "history", "limit events of one code", ttl=600).takes(
            code=REQUIRED, limit=60
        ),
        market("get_realtime_stock_changes", "live_stock_changes", "intraday anomalies", ttl=20).takes(
            limit=100
        ),
    ),
)
