"""raw_hot_stocks: what people look at: the popularity lists of two portals and the strong stocks of a date
with the topics behind them."""

import pandas as pd

from core.declaration.columns import S16, S64, S255, Code, Date, Dt, F, Int, Json, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from resources.upstreams.fetch_context import FetchContext, current_session, within_last

LISTS = ("em_rank", "ths_hot", "ths_strong", "xq_follow")


class RawHotStock(Model):
    """One stock in one list on one date; the newest list of a date is kept."""

    trade_date: Date = key("trade date")
    list_type: S16 = key(
        "em_rank, ths_hot popularity; ths_strong strong stocks; xq_follow followers", isin=list(LISTS)
    )
    code: Code = key("security code")
    name: S64 = col(title="name")
    rank_no: Int = col("", "rank from 1; none in ths_strong", ge=1)
    rank_change: Int = col("", "places gained")
    heat: F = col("", "the list's own measure", ge=0)
    change_pct: Pct = col("pct", "change of the day")
    reason: S255 = col(title="topics joined by +")
    tags: Json = col(title="topics")
    snapshot_time: Dt = col(title="when a list of the moment was taken")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls: the ranking, and the quotes of its hundred for names and changes."""
    ranked = ctx.eastmoney.popularity()
    rows = ranked[ranked["code"].map(scope.covers).astype(bool)].assign(list_type="em_rank")
    if len(rows):
        quotes = ctx.eastmoney.ulist(rows["symbol"].tolist())
        rows = rows.merge(quotes[["symbol", "name", "change_pct"]], on="symbol", how="left")
    return _of_now(rows, ctx, scope)


def topic_portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for the popularity of the session that has ended, one call a date for its strong stocks."""
    parts = []
    if current_session(ctx, scope):
        parts.append(_of_now(ctx.ths.hot_list().assign(list_type="ths_hot"), ctx, scope))
    for day in scope.dates:
        strong = ctx.ths.strong_stocks(day).rename(columns={"date": "trade_date"})
        parts.append(strong.assign(list_type="ths_strong"))
    rows = stacked(parts, ["trade_date", "list_type", "code"])
    return rows[rows["code"].map(scope.covers).astype(bool)]


def social_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call, and two for a visitor's token: whom most users follow."""
    rows = ctx.xueqiu.followed().assign(list_type="xq_follow")
    return _of_now(rows[rows["code"].map(scope.covers).astype(bool)], ctx, scope)


def _of_now(rows: pd.DataFrame, ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    now = ctx.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    return rows.assign(trade_date=scope.until, snapshot_time=now)


DATASET = Raw(
    name="hot_stocks",
    title="Popularity lists and strong stocks of a date",
    model=RawHotStock,
    sources=(
        Source("eastmoney", portal, current_session, parts=("em_rank",)),
        Source("ths", topic_portal, within_last(240), parts=("ths_hot", "ths_strong")),
        Source("xueqiu", social_site, current_session, parts=("xq_follow",)),
    ),
    combine="all",
    # A stock that fell out of a list must not stay in it; a list whose site did not answer is kept.
    replace_by=("trade_date", "list_type"),
    freshness=trading(1, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Hot stocks",
    tasks=("limitup_reason_sync", "eod_core"),
    interfaces=(
        market("get_hot_stocks", "by_date", "hot list", ttl=60, order="rank_no").takes(
            trade_date=DAY, list_type="em_rank", limit=50
        ),
        timeseries("get_hot_rank_history", "history", "hot rank of one code", ttl=600).takes(
            code=REQUIRED, list_type="em_rank", limit=60
        ),
    ),
)
