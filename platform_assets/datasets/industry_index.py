"""fusion_industry_index: the indices of the SW industries by trade date.

SW has the current session in one call and the ratios of a date in another; of a past date the first is gone,
so open, high and low come from the whole past of each index (a range), or stay as they were stored. Without
SW an index goes on from its stored close by its members' returns, and its row says so.
"""

import numpy as np
import pandas as pd

from core.declaration.columns import EVENING, S4, S16, S64, Amt, Code, Date, F, Int, Pct, Px, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import DAY, REQUIRED, TEXT, market, timeseries
from core.declaration.rules import Soft, Whole, close_of, trading
from core.declaration.scope import Context, Scope
from core.errors import PayloadError
from platform_assets.compute.industry_returns import next_rows
from platform_assets.datasets._dated import CLASSES, Classes, listed_on
from platform_assets.datasets._industries import LEVELS, indices_now, sw_report
from platform_assets.datasets._price_checks import HighAndLow, change_is_plausible
from resources.upstreams.fetch_context import FetchContext, whole_market

FIRST_LEVELS = 31
_FEW_DATES = 5
"""Dates of a load up to which the whole past of every index is not worth its calls."""
_SAME_POINTS = 0.02
_SAME_SHARE = 0.002
_SAME_VOLUME = 0.05
_PRICES = ("open", "high", "low")


class IndustryIndex(HighAndLow):
    """One index on one trade date; volume in 100 million shares, amounts in 100 million CNY."""

    code: Code = key("index of the classification", str_matches=r"^8[05][0-9]{4}$")
    date: Date = key("trade date")
    name: S64 = col(title="name of the industry", nullable=False)
    level: S4 = col(title="l1, l2, l3", nullable=False, isin=list(LEVELS))
    parent_code: S16 = col(title="index of the level above", computed=True)
    open: Px = col("point", "open", gt=0, varies=EVENING)
    close: Px = col("point", "close", nullable=False, gt=0)
    high: Px = col("point", "high", gt=0, varies=EVENING)
    low: Px = col("point", "low", gt=0, varies=EVENING)
    change_pct: Pct = col("pct", "close against the close before")
    volume_yi: F = col("yi_sh", "shares traded by the members", ge=0)
    amount_yi: Amt = col("yi", "turnover of the members", ge=0, varies=EVENING)
    turnover_pct: Pct = col("pct", "turnover rate", ge=0)
    pe: F = col("", "price / earnings")
    pb: F = col("", "price / book")
    dividend_yield: Pct = col("pct", "dividend yield", ge=0)
    float_market_cap_yi: Amt = col("yi", "float market cap", ge=0)
    amount_share_pct: Pct = col("pct", "share of the market's turnover", ge=0, le=100)
    member_count: Int = col("", "members by our own classification", computed=True, ge=0)


# -- sources ----------------------------------------------------------------------------------------


def sw_indices(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """About fourteen calls for the session that has ended; for a range one more for every index."""
    reported = sw_report(ctx, scope)
    rows = reported[reported["close"].notna()]
    for day in scope.dates:
        if ctx.is_current_session(day):
            rows = _with_session(ctx, rows, day)
    if len(scope.dates) > _FEW_DATES:
        return _with_past(ctx, rows)
    return _as_stored(ctx, rows, scope)


def _with_session(ctx: FetchContext, rows: pd.DataFrame, day: str) -> pd.DataFrame:
    """The rows with the prices of the session that has ended. PayloadError when the list is of another one:
    it carries no date, so its closes must be those of the analysis, or follow those that are stored."""
    current = pd.concat([indices_now(ctx, level) for level in LEVELS], ignore_index=True)
    today = rows[rows["date"] == day]
    before = ctx.calendar.offset(day, -1)
    stored = ctx.read("fusion_industry_index", columns=("code", "close"), since=before, until=before)
    _must_agree(current, today, "close", day)
    _must_agree(current, stored, "last_close", day)
    merged = current.merge(
        today.drop(columns=["name", "level"]), on="code", how="left", suffixes=("", "_reported")
    )
    change = (merged["close"] / merged["last_close"] - 1) * 100
    same = (merged["volume"] - merged["volume_yi"]).abs() <= _SAME_VOLUME * merged["volume_yi"]
    made = merged.assign(
        date=day,
        change_pct=merged["change_pct"].fillna(change),
        # The list states no units: its amount is accepted where its volume is that of the analysis.
        amount_yi=merged["amount"].where(same),
    )
    return pd.concat([rows[rows["date"] != day], made], ignore_index=True)


def _must_agree(current: pd.DataFrame, reported: pd.DataFrame, column: str, day: str) -> None:
    joined = current[["code", column]].merge(
        reported[["code", "close"]], on="code", suffixes=("", "_reported")
    )
    if joined.empty:
        return
    other = joined["close_reported"] if column == "close" else joined["close"]
    far = (joined[column] / other.astype(float) - 1).abs() > _SAME_SHARE
    if far.mean() > 0.5:
        raise PayloadError(
            f"the list of indices is not of {day}: {column} of {int(far.sum())} differ", source="sw"
        )


def _with_past(ctx: FetchContext, rows: pd.DataFrame) -> pd.DataFrame:
    """Prices and amounts from the whole past of every index."""
    trends = ctx.each(ctx.sw.trend, sorted(rows["code"].unique()))
    if not trends:
        return rows
    past = pd.concat(trends, ignore_index=True)[["code", "date", *_PRICES, "amount_yi"]]
    kept = rows.drop(columns=[name for name in (*_PRICES, "amount_yi") if name in rows.columns])
    return kept.merge(past, on=["code", "date"], how="left")


def _as_stored(ctx: FetchContext, rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Prices and amounts of past dates as they were stored with the same close."""
    stored = ctx.read(
        "fusion_industry_index", columns=("code", "date", "close", *_PRICES, "amount_yi"), **scope.span
    )
    joined = rows.merge(stored, on=["code", "date"], how="left", suffixes=("", "_stored"))
    same = (joined["close"] - joined["close_stored"].astype(float)).abs() <= _SAME_POINTS
    for name in (*_PRICES, "amount_yi"):
        own = joined[name] if name in rows.columns else pd.Series(np.nan, index=joined.index)
        held = joined[f"{name}_stored" if name in rows.columns else name].astype(float)
        joined[name] = own.where(own.notna(), held.where(same))
    return joined


def own_bars(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Stored closes carried on by the members' returns, weighted by float cap."""
    before = ctx.calendar.offset(scope.since, -1)
    known = ctx.read("fusion_industry_index", columns=("code", "close"), since=before, until=before)
    closes = dict(zip(known["code"], known["close"].astype(float), strict=True))
    levels = [name for level in LEVELS for name in (f"sw_{level}", f"sw_{level}_name")]
    classes, parts = Classes.read(ctx.read), []
    for day in scope.dates:
        rows = next_rows(_day(ctx, day, classes.on(day)[["code", *levels]]), closes)
        closes |= dict(zip(rows["code"], rows["close"], strict=True))
        parts.append(rows.assign(date=day))
    return pd.concat(parts, ignore_index=True)


def _day(ctx: FetchContext, day: str, classed: pd.DataFrame) -> pd.DataFrame:
    bars = ctx.read(
        "fusion_kline_daily", columns=("code", "change_pct", "volume", "amount"), since=day, until=day
    )
    ratios = ctx.read(
        "fusion_valuation",
        columns=("code", "float_market_cap", "total_market_cap", "pe_ttm", "pb", "dividend_yield"),
        since=day,
        until=day,
    )
    return bars.merge(ratios, on="code", how="left").merge(classed, on="code", how="inner")


# -- derivation and checks --------------------------------------------------------------------------


def place_in_classification(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Level above and number of members, from the classification of the stocks."""
    classes = Classes.read(context.read)
    master = context.read("fusion_stock_master", columns=("code", "list_date", "delist_date"))
    rows["parent_code"], rows["member_count"] = None, None
    for day in rows["date"].unique():
        gone = master.loc[~listed_on(master, str(day)), "code"]
        classed, own = classes.on(str(day)), rows["date"] == day
        classed = classed[~classed["code"].isin(gone)]
        codes = rows.loc[own, "code"]
        counts = pd.concat([classed[f"sw_{level}"] for level in LEVELS]).value_counts()
        rows.loc[own, "parent_code"] = codes.map(_parents(classed))
        rows.loc[own, "member_count"] = codes.map(counts)
    return rows


def _parents(classed: pd.DataFrame) -> dict[str, str]:
    """Index -> that of the level above of most of its stocks."""
    parents: dict[str, str] = {}
    for own, above in (("sw_l2", "sw_l1"), ("sw_l3", "sw_l2")):
        pairs = classed.dropna(subset=[own, above])
        usual = pairs.groupby(own)[above].agg(lambda some: some.mode().iloc[0])
        parents |= dict(zip(usual.index, usual, strict=True))
    return parents


def told_by_sw(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The index is SW's own, not carried on from its members."""
    return rows["src"] == "sw"


def ratios_are_positive(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["pe"] <= 0) | (rows["pb"] <= 0)).fillna(False)


def has_all_first_levels(rows: pd.DataFrame, context: Context) -> str | None:
    """The 31 first levels, or as many as the stocks are classified into."""
    day = context.scope.until
    promised = min(FIRST_LEVELS, Classes.read(context.read).on(day)["sw_l1"].dropna().nunique())
    have = int(((rows["level"] == "l1") & (rows["date"] == day)).sum())
    return None if have >= promised else f"{have} first levels, {promised} are expected"


DATASET = Dataset(
    name="industry_index",
    subject="indices_and_industries",
    title="Industry indices by trade date",
    model=IndustryIndex,
    domain="wide",
    sources=(Source("sw", sw_indices), Source("derived", own_bars, only_when=whole_market)),
    derive=(place_in_classification,),
    soft=(
        Soft(told_by_sw, "carried on from the members' returns"),
        Soft(change_is_plausible, "index moved by more than 12 %"),
        Soft(ratios_are_positive, "PE or PB not above zero"),
    ),
    whole=(Whole(has_all_first_levels),),
    late=1,
    reads=("fusion_kline_daily", CLASSES, "fusion_stock_master", "fusion_valuation"),
    undated={"fusion_stock_master": ("code", "list_date", "delist_date")},
    reads_own_past=True,
    of_stocks=False,
    public_at=close_of("date"),
    freshness=trading(2),
    tasks=("industry_index_sync",),
    interfaces=(
        timeseries(
            "get_industry_index_daily", "history", "bars of one industry index, oldest first", ttl=600
        ).takes(industry_code=REQUIRED, start_date=DAY, end_date=DAY, limit=240),
        market(
            "get_industry_index_by_date", "by_date", "industry indices of one level on one date", ttl=600
        ).takes(trade_date=DAY, sort=TEXT, limit=200, offset=0, level="l1"),
    ),
)
