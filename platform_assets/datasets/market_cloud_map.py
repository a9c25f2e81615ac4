"""fusion_market_cloud_map: the market as a tree map, by trade date: the market, its industry boards, their
stocks.

The session that has ended comes from the portal's board list and its list of all A shares, which other tables
of a run ask for as well; a day without the portal from the quote site's ranking of all A shares, a past date,
or a day without both, from our own closing quotes; these two by the stored industries, with what they do not
know left empty. A node of a better source is kept. Limit-ups are those of the limit pool.
"""

from typing import Any

import numpy as np
import pandas as pd

from core.declaration import columns as t
from core.declaration.columns import EVENING, Model, col, key, model_columns
from core.declaration.dataset import Dataset, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import Needed, Soft, Whole, close_of, trading
from core.declaration.scope import Context, Scope
from platform_assets.compute.name_spans import named
from platform_assets.datasets._dated import SPELLING, known_on
from platform_assets.datasets._events import of_session
from resources.upstreams.fetch_context import FetchContext, current_session, whole_market

ROOT = "ROOT"
LEVELS = ("market", "sector", "stock")
WAN_PER_YI = 1e4
CNY_PER_YI = 1e8
_MOST_SECTORS = 25
_CAP_TOLERANCE = 0.05


class MarketCloudMap(Model):
    """One node of the tree on one date; caps and amounts in 100 million CNY."""

    trade_date: t.Date = key("trade date")
    node_code: t.S16 = key("ROOT, board code or name of an industry, stock code")
    parent_code: t.S16 = col(title="node above; none of the market, and of a stock without industry")
    level: t.S8 = col(title="market, sector, stock", nullable=False, isin=list(LEVELS))
    name: t.S64 = col(title="name", nullable=False, varies=SPELLING)
    market_cap_yi: t.Amt = col("yi", "total market cap", ge=0)
    amount_yi: t.Amt = col("yi", "turnover", ge=0)
    change_pct: t.Pct = col("pct", "change of the day; of the market weighted by cap")
    change_pct_5d: t.Pct = col("pct", "change over 5 sessions")
    turnover_pct: t.Pct = col("pct", "turnover rate")
    main_net: t.Amt = col("CNY", "main net inflow")
    up_count: t.Int = col("", "members that rose", ge=0)
    down_count: t.Int = col("", "members that fell", ge=0)
    limit_up_count: t.Int = col("", "members in the pool of limit-ups", computed=True, ge=0)
    leader_code: t.Code = col(title="member that rose most")
    leader_name: t.S64 = col(title="its name", varies=SPELLING)
    leader_change_pct: t.Pct = col("pct", "its change")
    rank_no: t.Int = col("", "rank by change within the level", computed=True, ge=1)
    snapshot_time: t.Dt = col(title="time of the newest quote behind the node", varies=EVENING)


# -- sources ----------------------------------------------------------------------------------------


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Boards (one call a hundred) and the list of all A shares (shared with the other tables of the run)."""
    listed = of_session(ctx, ctx.portal_list(), scope.until, "list of all A shares")
    boards = ctx.once(("boards", "industry"), lambda view: view.eastmoney.boards("industry"))
    code_of = dict(zip(boards["board_name"], boards["board_code"], strict=True))
    stocks = pd.DataFrame(
        {
            "node_code": listed["code"],
            "parent_code": listed["industry"].map(code_of),
            "level": "stock",
            "name": listed["name"],
            "market_cap_yi": listed["total_market_cap"] / WAN_PER_YI,
            "amount_yi": listed["amount"] / CNY_PER_YI,
            **{name: listed[name] for name in ("change_pct", "change_pct_5d", "turnover_pct", "main_net")},
            "snapshot_time": listed["quote_time"],
        }
    )
    newest = stocks.groupby("parent_code")["snapshot_time"].max()
    sectors = pd.DataFrame(
        {
            "node_code": boards["board_code"],
            "parent_code": ROOT,
            "level": "sector",
            "name": boards["board_name"],
            "market_cap_yi": boards["total_market_cap"] / WAN_PER_YI,
            "amount_yi": boards["amount"] / CNY_PER_YI,
            **{name: boards[name] for name in ("change_pct", "change_pct_5d", "turnover_pct", "main_net")},
            **{name: boards[name] for name in ("up_count", "down_count", "leader_code", "leader_name")},
            "leader_change_pct": boards["leader_pct"],
            "snapshot_time": boards["board_code"].map(newest),
        }
    )
    return _tree(stocks, sectors, scope.until)


def ranking(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The quote site's ranking of all A shares, a call per 200, by their stored industries. It carries no
    date: PayloadError unless its prices are the stored closes of the session."""
    day = scope.until
    listed = of_session(ctx, ctx.tencent.rank(), day, "rank", dated=False)
    live = listed["volume"] > 0
    stocks = pd.DataFrame(
        {
            "node_code": listed["code"],
            "level": "stock",
            "name": listed["name"],
            "market_cap_yi": listed["total_market_cap"].where(lambda cap: cap > 0) / WAN_PER_YI,
            "amount_yi": (listed["amount"] / CNY_PER_YI).where(live),
            **{name: listed[name].where(live) for name in ("change_pct", "turnover_pct", "main_net")},
            "snapshot_time": None,
        }
    )
    industries = known_on(ctx, "fusion_stock_industry", ("code", "em_industry"), day)
    industry = stocks["node_code"].map(industries.set_index("code")["em_industry"])
    return _by_industry(ctx, stocks, industry, listed["float_market_cap"], day)


def own_quotes(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Closing quotes, caps and money flow that are stored, by the industry of each stock."""
    return stacked((_stored(ctx, day) for day in scope.dates), ["trade_date"])


def _stored(ctx: FetchContext, day: str) -> pd.DataFrame:
    def read(table: str, *columns: str, dated: bool = True) -> pd.DataFrame:
        span = {"since": day, "until": day} if dated else {}
        return ctx.read(table, columns=("code", *columns), **span)

    quotes = read(
        "fusion_quote_snapshot",
        *("name", "change_pct", "amount", "turnover_pct", "quote_time", "is_suspended"),
    )
    master = read("fusion_stock_master", "sec_type", dated=False)
    rows = quotes.merge(master[master["sec_type"] == "stock"], on="code", how="inner")
    rows = rows.merge(read("fusion_valuation", "total_market_cap", "float_market_cap"), on="code", how="left")
    rows = rows.merge(read("fusion_fund_flow", "main_net"), on="code", how="left")
    boards = known_on(ctx, "fusion_stock_industry", ("code", "em_industry"), day)
    rows = rows.merge(boards, on="code", how="left")
    # Quotes of a past date come from bars, which have no names.
    spans = ctx.read("ref_name_history", columns=("code", "valid_from", "valid_to", "name", "is_st"))
    known = named(pd.DataFrame({"code": rows["code"], "date": day}), spans).name
    rows["name"] = rows["name"].where(rows["name"].notna(), pd.Series(known, index=rows.index, dtype=object))
    live = ~rows["is_suspended"].fillna(False).astype(bool)
    stocks = pd.DataFrame(
        {
            "node_code": rows["code"],
            "level": "stock",
            "name": rows["name"],
            "market_cap_yi": rows["total_market_cap"] / WAN_PER_YI,
            "amount_yi": (rows["amount"] / CNY_PER_YI).where(live),
            **{name: rows[name].where(live) for name in ("change_pct", "turnover_pct", "main_net")},
            "snapshot_time": rows["quote_time"],
        }
    )
    figures = ["market_cap_yi", "amount_yi", "change_pct", "turnover_pct", "main_net"]
    stocks[figures] = stocks[figures].astype(float)
    return _by_industry(ctx, stocks, rows["em_industry"], rows["float_market_cap"], day)


def _by_industry(
    ctx: FetchContext, stocks: pd.DataFrame, industry: pd.Series, weight: pd.Series, day: str
) -> pd.DataFrame:
    """The tree of some stocks without sectors: `industry` names that of each, `weight` is its float cap."""
    boards = ctx.read("raw_concept_blocks", columns=("block_code", "block_name", "block_type", "src"))
    boards = boards[boards["block_type"] == "industry"]
    # A node is known by the portal's code, also when the terminal's boards are the fallback of the portal's.
    own = boards["src"] == "eastmoney"
    boards = (boards[own] if own.any() else boards).drop_duplicates("block_name")
    code_of = dict(zip(boards["block_name"], boards["block_code"], strict=True))
    name_of = {code: name for name, code in code_of.items()}
    weights = dict(zip(stocks["node_code"], weight.astype(float), strict=True))
    stocks = stocks.assign(parent_code=industry.map(code_of))
    stocks = stocks[stocks["name"].notna()].reset_index(drop=True)
    groups = stocks.dropna(subset=["parent_code"]).groupby("parent_code")
    sectors = pd.DataFrame(
        [
            {
                **_summed(members, members["node_code"].map(weights).astype(float)),
                "node_code": code,
                "name": name_of[code],
            }
            for code, members in groups
        ]
    ).assign(parent_code=ROOT, level="sector")
    return _tree(stocks, sectors, day)


def _tree(stocks: pd.DataFrame, sectors: pd.DataFrame, day: str) -> pd.DataFrame:
    """The nodes of one date below the market's own."""
    if stocks.empty:
        return pd.DataFrame(columns=["trade_date"])
    market = {
        **_summed(stocks, stocks["market_cap_yi"]),
        "node_code": ROOT,
        "parent_code": None,
        "level": "market",
        "name": "A股",
    }
    return pd.concat([pd.DataFrame([market]), sectors, stocks], ignore_index=True).assign(trade_date=day)


def _summed(members: pd.DataFrame, weight: pd.Series) -> dict[str, Any]:
    """Sums, breadth and leader of some stocks; the change weighted by `weight`, in the order of members."""
    change = members["change_pct"].astype(float)
    known = change.notna() & weight.notna() & (weight > 0)
    heavy = float(weight[known].sum())
    leader = members.loc[change.idxmax()] if change.notna().any() else None
    return {
        **{name: members[name].sum(min_count=1) for name in ("market_cap_yi", "amount_yi", "main_net")},
        "change_pct": float((change[known] * weight[known]).sum()) / heavy if heavy > 0 else np.nan,
        "up_count": np.nan if leader is None else int((change > 0).sum()),
        "down_count": np.nan if leader is None else int((change < 0).sum()),
        "leader_code": None if leader is None else leader["node_code"],
        "leader_name": None if leader is None else leader["name"],
        "leader_change_pct": np.nan if leader is None else leader["change_pct"],
        "snapshot_time": members["snapshot_time"].dropna().max() if len(members) else None,
    }


# -- derivation and checks --------------------------------------------------------------------------


def keep_better_source(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Keeps the stored values of nodes that a better source had before: a fallback corrects nothing."""
    stored = context.read("fusion_market_cloud_map", columns=(*_KEY, *_REPORTED, "src"), **context.scope.span)
    before = rows[list(_KEY)].merge(stored, on=list(_KEY), how="left").set_axis(rows.index)
    better = before["src"].map(_RANK).astype(float) < rows["src"].map(_RANK).astype(float)
    for name in (*_REPORTED, "src"):
        rows[name] = rows[name].astype(object).mask(better, before[name].astype(object))
    return rows


def count_limit_ups(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Counts limit-ups from the stored pool; null on a date that has none."""
    stored = context.read("raw_limit_pool", columns=("code", "trade_date", "pool"), **context.scope.span)
    stored = stored[stored["trade_date"].isin(set(rows["trade_date"]))]
    ups = stored[stored["pool"] == "up"].rename(columns={"code": "node_code"})
    stocks = rows[rows["level"] == "stock"]
    found = stocks[["trade_date", "node_code", "parent_code"]].merge(
        ups[["trade_date", "node_code"]], on=["trade_date", "node_code"]
    )
    own = found.groupby(["trade_date", "node_code"]).size()
    of_sector = found.groupby(["trade_date", "parent_code"]).size()
    of_market = found.groupby("trade_date").size()
    counts = []
    for day, code, level in zip(rows["trade_date"], rows["node_code"], rows["level"], strict=True):
        counted = of_market.get(day, 0) if level == "market" else of_sector.get((day, code), 0)
        counts.append(own.get((day, code), 0) if level == "stock" else counted)
    known = rows["trade_date"].isin(set(stored["trade_date"]))
    rows["limit_up_count"] = pd.Series(counts, index=rows.index, dtype=float).where(known)
    return rows


def rank_by_change(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    change = rows["change_pct"].astype(float)
    grouped = change.groupby([rows["trade_date"], rows["level"]])
    rows["rank_no"] = grouped.rank(ascending=False, method="first")
    return rows


def cap_is_that_of_its_stocks(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A sector's cap is the sum of its stocks' within 5 %."""
    stocks = rows[rows["level"] == "stock"]
    summed = stocks.groupby(["trade_date", "parent_code"])["market_cap_yi"].sum()
    own = pd.MultiIndex.from_frame(rows[["trade_date", "node_code"]])
    below = summed.reindex(own).to_numpy(dtype=float)
    cap = rows["market_cap_yi"].to_numpy(dtype=float, na_value=np.nan)
    wrong = np.abs(cap - below) > _CAP_TOLERANCE * below
    return pd.Series(~(wrong & (rows["level"] == "sector").to_numpy()), index=rows.index)


def caps_are_all_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No stock whose cap is not known is left out of a sum."""
    lacking = rows[(rows["level"] == "stock") & rows["market_cap_yi"].isna()]
    of_market, of_sector = (
        set(lacking["trade_date"]),
        set(lacking[["trade_date", "parent_code"]].itertuples(index=False, name=None)),
    )
    own = pd.MultiIndex.from_frame(rows[["trade_date", "node_code"]])
    sector = (rows["level"] == "sector") & own.isin(of_sector)
    return ~(sector | ((rows["level"] == "market") & rows["trade_date"].isin(of_market)))


def moved_within_members(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No more members rose and fell than there are."""
    stocks = rows[rows["level"] == "stock"]
    members = stocks.groupby(["trade_date", "parent_code"]).size()
    own = pd.MultiIndex.from_frame(rows[["trade_date", "node_code"]])
    held = members.reindex(own).to_numpy(dtype=float)
    moved = (rows["up_count"] + rows["down_count"]).to_numpy(dtype=float, na_value=np.nan)
    return pd.Series(~((moved > held) & (rows["level"] == "sector").to_numpy()), index=rows.index)


def has_many_sectors(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 25 sectors, or as many as the stocks are classified into; of a date whose industries are not
    known there is none."""
    until = context.scope.until
    industries = context.read("fusion_stock_industry", columns=("em_industry",), as_of=f"{until} 23:59:59")
    promised = min(_MOST_SECTORS, industries["em_industry"].dropna().nunique())
    have = int(((rows["trade_date"] == until) & (rows["level"] == "sector")).sum())
    return None if have >= promised else f"{have} sectors, at least {promised} are expected"


_KEY = ("trade_date", "node_code")
_REPORTED = tuple(
    spec.name for spec in model_columns(MarketCloudMap) if not spec.computed and spec.name not in _KEY
)
_SOURCES = (
    Source("eastmoney", portal, current_session),
    Source("tencent", ranking, current_session),
    Source("derived", own_quotes, only_when=whole_market),
)
_RANK = {source.name: place for place, source in enumerate(_SOURCES)}

DATASET = Dataset(
    name="market_cloud_map",
    subject="market",
    title="Tree map of the market",
    model=MarketCloudMap,
    domain="daily",
    sources=_SOURCES,
    derive=(keep_better_source, count_limit_ups, rank_by_change),
    soft=(
        Soft(
            cap_is_that_of_its_stocks, "cap of a sector differs from the sum of its stocks by more than 5 %"
        ),
        Soft(caps_are_all_known, "the sum lacks stocks whose cap is not known"),
        Soft(moved_within_members, "more members rose and fell than there are"),
    ),
    whole=(Whole(has_many_sectors),),
    needs=(Needed("raw_limit_pool", ("limit_up_count",)),),
    reads=(
        "fusion_kline_daily",
        "fusion_quote_snapshot",
        "fusion_stock_master",
        "fusion_valuation",
        "fusion_fund_flow",
        "fusion_stock_industry",
        "raw_concept_blocks",
        "raw_limit_pool",
        "ref_name_history",
    ),
    undated={
        "fusion_stock_master": ("code", "sec_type"),
        "raw_concept_blocks": ("block_code", "block_name", "block_type", "src"),
    },
    as_known=("fusion_stock_industry",),
    of_stocks=False,
    public_at=close_of("trade_date"),
    freshness=trading(1, "trade_date"),
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        market("get_market_cloud_map", "by_date", "treemap nodes", ttl=60, order="rank_no").takes(
            trade_date=DAY, level="sector"
        ),
        timeseries("get_sector_history", "history", "stored sector node rows", ttl=600).takes(
            industry_code=REQUIRED, limit=60
        ),
    ),
)
