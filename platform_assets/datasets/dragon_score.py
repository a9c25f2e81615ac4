"""calc_dragon_score: the leader score of each date's limit-ups and of those of the date before.

A score is final once the next session has closed: from then on a load only fills the later changes of price,
from the bars as they are by then. Why a stock was at the limit comes out later in the evening and is joined
on read.
"""

import json
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.declaration.columns import (
    EVENING,
    S4,
    S8,
    S16,
    S32,
    S64,
    Amt,
    Code,
    Date,
    F,
    Int,
    Model,
    Pct,
    col,
    key,
)
from core.declaration.conditions import above, equal
from core.declaration.dataset import Dataset
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Context, Scope
from platform_assets.compute.dragon_review import review_leaders
from platform_assets.compute.dragon_score import score_leaders, themes, with_place_in_theme
from platform_assets.compute.parameters.dragon import REVIEW_STEPS
from platform_assets.compute.parameters.scorecards import REVISITED_DAYS
from platform_assets.compute.scorecards.forward import REVIEWED
from platform_assets.compute.scorecards.prices import Prices
from platform_assets.datasets._dated import known_on
from platform_assets.datasets._events import CLOSE_TIME
from resources.upstreams.fetch_context import FetchContext

_CNY_PER_WAN = 1e4
_POOL = (
    "trade_date", "pool", "code", "name", "amount", "float_market_cap", "turnover_pct", "seal_fund",
    "first_seal_time", "break_times", "limit_days", "zt_stat", "industry",
)  # fmt: skip

_POOLS = (
    "the portal has the pools of twenty dates, the topic portal fewer figures of older ones; see coverage"
)


class DragonScore(Model):
    """One stock on one date; scores are points."""

    trade_date: Date = key("trade date")
    code: Code = key("security code")
    name: S64 = col(title="name")
    total_score: F = col("", "0..100", ge=0, le=100, decimals=4, varies=_POOLS)
    score_height: F = col("", "streak, 0..20", ge=0, le=20, decimals=4)
    score_seal: F = col("", "how firmly the limit was held, 0..20", ge=0, le=20, decimals=4, varies=_POOLS)
    score_theme: F = col("", "place in its theme, 0..20", ge=0, le=20, decimals=4, varies=_POOLS)
    score_capital: F = col("", "money behind it, 0..20", ge=0, le=20, decimals=4, varies=EVENING)
    score_structure: F = col("", "size and past of the stock, 0..20", ge=0, le=20, decimals=4)
    coverage: F = col("", "share of the points that could be judged", ge=0, le=1, decimals=4, varies=_POOLS)
    rank_no: Int = col("", "rank of the date", ge=1, varies=_POOLS)
    grade: S4 = col(title="S, A, B, C, D", varies=_POOLS)
    limit_days: Int = col("", "streak on the date; 0: no longer at the limit", ge=0)
    zt_stat: S32 = col(title="N天M板: M boards in N days", varies=_POOLS)
    seal_fund: Amt = col("CNY", "money in the queue at the limit", ge=0, varies=_POOLS)
    first_seal_time: S8 = col(title="HH:MM:SS of the first seal", varies=_POOLS)
    break_times: Int = col("", "times that the seal broke", ge=0, varies=_POOLS)
    theme: S64 = col(title="block, or industry, with the most limit-ups", varies=_POOLS)
    theme_rank: Int = col("", "rank of the theme by limit-ups", ge=1, varies=_POOLS)
    theme_member_count: Int = col("", "limit-ups of the theme", ge=0, varies=_POOLS)
    turnover_pct: Pct = col("pct", "turnover rate", ge=0, varies=_POOLS)
    float_market_cap: Amt = col("wan", "float market cap", ge=0, varies=_POOLS)
    next_change_pct: Pct = col("pct", "change on the trade date after", computed=True)
    d3_change_pct: Pct = col("pct", "change in the three trade dates after", computed=True)
    d5_change_pct: Pct = col("pct", "change in the five trade dates after", computed=True)
    review_status: S16 = col(title="pending, partial, reviewed", computed=True)


def leaders(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Rows of each date: final ones as stored, others scored again; of dates before the requested ones only
    what is stored."""
    columns = list(DragonScore.to_schema().columns)
    stored = ctx.read("calc_dragon_score", columns=columns, **scope.span)
    pools = ctx.read(
        "raw_limit_pool", columns=_POOL, since=ctx.calendar.offset(scope.since, -1), until=scope.until
    )
    parts = []
    for day in scope.dates:
        known = stored[stored["trade_date"] == day]
        reported = (pools["trade_date"] == day).any()
        if day not in scope.asked or (len(known) and (_stands(ctx, day) or not reported)):
            parts.append(known)
        else:
            parts.append(_scored(ctx, day, pools, _concepts(ctx, day)))
    return stacked((part.reindex(columns=columns) for part in parts), columns)


def _concepts(ctx: FetchContext, day: str) -> pd.DataFrame:
    """block_name, code of the concept boards as they were known on a date; none of a date before the first
    that was loaded."""
    known = known_on(ctx, "fusion_stock_industry", ("code", "concepts"), day).dropna(subset=["concepts"])
    pairs = known.assign(block_name=known["concepts"].map(json.loads)).explode("block_name")
    return pairs.dropna(subset=["block_name"])[["block_name", "code"]]


def _stands(ctx: FetchContext, day: str) -> bool:
    """Whether the session after `day` has closed."""
    coming = ctx.calendar.between(day, min(ctx.today, ctx.calendar.horizon))
    now = ctx.clock.now().strftime("%Y-%m-%d %H:%M")
    return len(coming) > 1 and f"{coming[1]} {CLOSE_TIME}" <= now


def _scored(ctx: FetchContext, day: str, pools: pd.DataFrame, blocks: pd.DataFrame) -> pd.DataFrame:
    rows = _candidates(ctx, day, pools)
    if rows.empty:
        return rows
    sealed = set(rows.loc[rows["sealed"], "code"])
    reported = rows.dropna(subset=["industry"])
    industries = dict(zip(reported["code"], reported["industry"], strict=True))
    rows = rows.merge(themes(blocks, sealed, set(rows["code"]), industries), on="code", how="left")
    rows["net_ratio"] = rows["code"].map(_net_ratios(ctx, day)).astype(float)
    scored = score_leaders(with_place_in_theme(rows))
    return scored.assign(
        trade_date=day,
        limit_days=scored["boards"],
        first_seal_time=scored["first_seal"],
        break_times=scored["breaks"],
        theme_member_count=scored["theme_count"],
    )


def _candidates(ctx: FetchContext, day: str, pools: pd.DataFrame) -> pd.DataFrame:
    """The limit-ups of a date, and those of the date before with the figures of the date."""
    today = pools[pools["trade_date"] == day]
    ups = today[today["pool"] == "up"]
    earlier = pools[(pools["trade_date"] == ctx.calendar.offset(day, -1)) & (pools["pool"] == "up")]
    left = sorted(set(earlier["code"]) - set(ups["code"]))
    if today.empty or not (len(ups) or left):
        return pd.DataFrame()
    then = earlier.set_index("code")
    # What the pool of the date says of them: `broken` knows how often, `prev` the rest.
    now = (
        today[today["pool"].isin(["broken", "prev"])]
        .sort_values("pool")
        .groupby("code")
        .first()
        .reindex(left)
    )
    gone = pd.DataFrame(index=pd.Index(left, name="code"))
    for name in ("amount", "float_market_cap", "turnover_pct", "break_times"):
        gone[name] = now[name].astype(float)
    for name in ("name", "industry"):
        gone[name] = now[name].where(now[name].notna(), then[name].reindex(left))
    rows = pd.concat(
        [
            ups.assign(sealed=True, boards=ups["limit_days"].astype(float)),
            gone.reset_index().assign(sealed=False, boards=0.0),
        ],
        ignore_index=True,
    )
    wide = ctx.read(
        "fusion_stock_wide",
        columns=(
            "code", "name", "amount", "turnover_pct", "float_market_cap", "limit_up_count_20d",
            "break_fail_days_5d",
        ),
        codes=rows["code"].tolist(),
        since=day,
        until=day,
    ).set_index("code")  # fmt: skip
    for name in ("amount", "turnover_pct", "float_market_cap"):
        rows[name] = rows[name].astype(float).fillna(rows["code"].map(wide[name]).astype(float))
    return rows.assign(
        sealed=rows["sealed"].astype(bool),
        float_cap=rows["float_market_cap"] * _CNY_PER_WAN,
        seal_fund=rows["seal_fund"].astype(float),
        first_seal=rows["first_seal_time"].astype(object).where(rows["first_seal_time"].notna(), None),
        breaks=rows["break_times"].astype(float),
        ups_20d=rows["code"].map(wide["limit_up_count_20d"]).astype(float),
        broken_5d=rows["code"].map(wide["break_fail_days_5d"]).astype(float),
    )


def _net_ratios(ctx: FetchContext, day: str) -> Mapping[str, float]:
    """Net purchases of the billboard's seats / turnover, by code; of reasons that are about the date alone,
    the one with the largest turnover. A stock that is not listed has none."""
    listed = ctx.read(
        "fusion_dragon_tiger", columns=("code", "net_buy", "amount", "is_multi_day"), since=day, until=day
    )
    single = listed[~listed["is_multi_day"].fillna(value=True).astype(bool) & (listed["amount"] > 0)]
    single = single.sort_values(["code", "amount"]).drop_duplicates("code", keep="last")
    ratios = single["net_buy"].astype(float) * _CNY_PER_WAN / single["amount"].astype(float)
    return dict(zip(single["code"], ratios, strict=True))


def add_review(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills the changes of price after the score, as far as they are known; one that was filled before is
    replaced where the bars behind it give another by now."""
    if rows.empty:
        return rows
    dates = _closed_from(context, min(rows["trade_date"]))
    bars = context.read.panel(
        "fusion_kline_daily",
        columns=("close", "adj_factor"),
        since=dates[0],
        until=dates[-1],
        conditions=(equal("sec_type", "stock"), above("volume", 0)),
    )
    prices = Prices.from_dense(bars, dates)
    code_at, day_at = _places(rows["code"], prices.code_at), _places(rows["trade_date"], prices.day_at)
    review = review_leaders(prices.close * prices.factor, prices.loaded, code_at, day_at)
    for column, changes in zip(REVIEW_STEPS, review.changes, strict=True):
        reported = rows[column].astype(float)
        rows[column] = reported.where(~np.isfinite(changes), changes)
    done = (rows["review_status"] == REVIEWED).fillna(False)
    rows["review_status"] = rows["review_status"].where(done, review.status)
    return rows


def _places(values: pd.Series, among: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """[rows] place of each value, -1 where it is none of them."""
    found: npt.NDArray[np.int64] = values.map(among).fillna(-1).to_numpy(dtype=np.int64)
    return found


def _closed_from(context: Context, day: str) -> list[str]:
    """The trade dates whose session is over at the run, from the one before `day` on: a stock that rested on
    its date is measured from its last close. Dates after `day` only as far as they are published."""
    calendar = context.calendar
    until = max(day, min(context.today, calendar.confirmed_until))
    dates = calendar.between(calendar.offset(day, -1), min(context.today, until))
    return [one for one in dates if f"{one} {CLOSE_TIME}" <= context.now[:16]]


DATASET = Dataset(
    name="dragon_score",
    subject="scores",
    title="Leader score of the limit-ups",
    model=DragonScore,
    adjusted=tuple(REVIEW_STEPS),
    revisits=REVISITED_DAYS,
    calculate=leaders,
    derive=(add_review,),
    reads=(
        "raw_limit_pool", "fusion_stock_industry", "fusion_stock_wide", "fusion_dragon_tiger",
        "fusion_kline_daily",
    ),
    as_known=("fusion_stock_industry",),
    reads_own_past=True,
    of_stocks=False,  # ranks and themes are of the whole date: some codes alone cannot be scored
    freshness=trading(1, "trade_date"),
    tasks=("dragon_score_sync",),
    interfaces=(
        market("get_dragon_score", "by_date", "leader scores of a day", ttl=600, order="rank_no").takes(
            trade_date=DAY, limit=50
        ),
        timeseries("get_dragon_score_history", "history", "leader score series", ttl=600).takes(
            code=REQUIRED, limit=30
        ),
    ),
)  # fmt: skip
