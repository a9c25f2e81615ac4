"""calc_industry_rank: industries of three classifications by trade date, ranked, with their rotation.

SW levels one and two from their indices, the portal's boards from the tree map; members of the SW industries
(how many rose, the leader, the flow) from the stocks of the tree map by the classification of the date.
"""

from typing import Any

import numpy as np
import pandas as pd

from core.declaration.columns import EVENING, S8, S16, S64, Amt, Code, Date, F, Int, Model, Pct, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.compute.industry_rank import compounded, of_members, rank_by_change, with_rotation
from platform_assets.compute.parameters import rotation as own
from platform_assets.datasets._dated import CLASSES, Classes
from resources.upstreams.fetch_context import FetchContext

SW = {"sw_l1": "l1", "sw_l2": "l2"}
"""Level -> that of the classification's indices."""
EM = "em"
LEVELS = (*SW, EM)
_QUADRANTS = (own.LEADING, own.IMPROVING, own.WEAKENING, own.LAGGING)


class IndustryRank(Model):
    """One industry on one date. Counts and flow are of its members."""

    trade_date: Date = key("trade date")
    level: S8 = key("sw_l1, sw_l2, em", isin=list(LEVELS))
    industry_code: S16 = key("index of the classification, or board code")
    industry_name: S64 = col(title="name", nullable=False)
    rank_no: Int = col("", "rank within the level by the change of the day", ge=1)
    rank_change: Int = col("", "ranks gained on the trade date before")
    change_pct: Pct = col("pct", "change of the day")
    chg_5d: Pct = col("pct", "change over 5 trade dates")
    chg_20d: Pct = col("pct", "change over 20 trade dates")
    amount_yi: Amt = col("yi", "turnover", ge=0, varies=EVENING)
    amount_share_pct: Pct = col("pct", "share of the market's turnover", ge=0, varies=EVENING)
    main_net: Amt = col("CNY", "main net inflow")
    up_count: Int = col("", "members that rose", ge=0)
    down_count: Int = col("", "members that fell", ge=0)
    limit_up_count: Int = col("", "members at the limit-up price", ge=0)
    leader_code: Code = col(title="member that rose most", varies=EVENING)
    leader_name: S64 = col(title="its name", varies=EVENING)
    leader_change_pct: Pct = col("pct", "its change", varies=EVENING)
    rotation_score: F = col("", "0..100 within the level", ge=0, le=100, decimals=4, varies=EVENING)
    quadrant: S16 = col(title="leading, improving, weakening, lagging", isin=list(_QUADRANTS))


def ranked(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every level of every date of which something is stored."""
    columns = list(IndustryRank.to_schema().columns)
    past = _Past(ctx, scope)
    levels, classes = tuple(SW), Classes.read(ctx.read)
    parts: list[pd.DataFrame] = []
    for day in scope.dates:
        nodes = _nodes(ctx, day)
        stocks = nodes[nodes["level"] == "stock"].rename(columns={"node_code": "code"})
        members = stocks.merge(classes.on(day)[["code", *levels]], on="code", how="inner")
        for level in LEVELS:
            rows = past.sw(level, day, members) if level in SW else past.boards(day, nodes)
            if len(rows):
                rows = rows.sort_values("industry_code").reset_index(drop=True)
                rows["rank_no"] = rank_by_change(rows["change_pct"])
                rows["rank_change"] = past.ranks_before(level, day, rows["industry_code"]) - rows["rank_no"]
                parts.append(with_rotation(rows.assign(trade_date=day, level=level)))
                past.add(level, day, rows)
    return stacked((part.reindex(columns=columns) for part in parts), columns)


def _nodes(ctx: FetchContext, day: str) -> pd.DataFrame:
    columns = (
        "node_code", "level", "name", "amount_yi", "change_pct", "change_pct_5d", "main_net", "up_count",
        "down_count", "limit_up_count", "leader_code", "leader_name", "leader_change_pct",
    )  # fmt: skip
    return ctx.read("fusion_market_cloud_map", columns=columns, since=day, until=day)


class _Past:
    """Figures of the dates before a date: closes of the SW indices, changes of the portal's boards."""

    def __init__(self, ctx: FetchContext, scope: Scope) -> None:
        self._calendar = ctx.calendar
        dates = ctx.calendar.last(own.STRENGTH_DAYS + 1, scope.since)
        indices = ctx.read(
            "fusion_industry_index",
            columns=("code", "date", "name", "level", "close", "change_pct", "amount_yi", "amount_share_pct"),
            since=dates[0],
            until=scope.until,
        )
        self._indices = {str(day): rows.set_index("code") for day, rows in indices.groupby("date")}
        reported = ctx.read(
            "calc_industry_rank",
            columns=("trade_date", "level", "industry_code", "change_pct", "rank_no"),
            since=dates[0],
            until=dates[-2],
        )
        self._reported: dict[tuple[str, str], pd.DataFrame] = {}
        for (level, day), rows in reported.groupby(["level", "trade_date"]):
            self.add(str(level), str(day), rows)

    def add(self, level: str, day: str, rows: pd.DataFrame) -> None:
        """Adds the ranked rows of a date."""
        self._reported[(level, day)] = rows.set_index("industry_code")[["change_pct", "rank_no"]].astype(
            float
        )

    def ranks_before(self, level: str, day: str, codes: pd.Series) -> pd.Series:
        """Ranks on the trade date before; those of SW follow from its indices, stored here or not."""
        before = self._calendar.offset(day, -1)
        if level in SW:
            indices = self._level(level, before).sort_index()
            ranks = rank_by_change(indices["change_pct"])
        elif (level, before) in self._reported:
            ranks = self._reported[(level, before)]["rank_no"]
        else:
            ranks = pd.Series(dtype=float)
        return codes.map(ranks).astype(float)

    def sw(self, level: str, day: str, members: pd.DataFrame) -> pd.DataFrame:
        """The indices of a level with the sums of their members."""
        today = self._level(level, day)
        if today.empty:
            return today
        rows = today[["name", "change_pct", "amount_yi", "amount_share_pct"]].astype({"change_pct": float})
        for name, steps in (("chg_5d", own.MOMENTUM_DAYS), ("chg_20d", own.STRENGTH_DAYS)):
            base = self._level(level, self._calendar.offset(day, -steps))["close"]
            rows[name] = (today["close"].astype(float) / base.reindex(today.index).astype(float) - 1) * 100
        rows = rows.rename(columns={"name": "industry_name"}).rename_axis("industry_code").reset_index()
        sums = of_members(members.rename(columns={level: "industry_code"}).dropna(subset=["industry_code"]))
        return rows.merge(sums, on="industry_code", how="left")

    def boards(self, day: str, nodes: pd.DataFrame) -> pd.DataFrame:
        """The portal's boards; their change over twenty dates from the changes of each of them."""
        rows = nodes[nodes["level"] == "sector"].rename(
            columns={"node_code": "industry_code", "name": "industry_name", "change_pct_5d": "chg_5d"}
        )
        if rows.empty:
            return rows
        codes = rows["industry_code"]
        steps = {
            count: np.vstack([self._changes(one, day, rows) for one in self._calendar.last(count, day)])
            for count in (own.MOMENTUM_DAYS, own.STRENGTH_DAYS)
        }
        whole = nodes.loc[nodes["level"] == "market", "amount_yi"].astype(float).sum()
        five = pd.Series(compounded(steps[own.MOMENTUM_DAYS]), index=codes.index)
        return rows.assign(
            chg_5d=rows["chg_5d"].astype(float).fillna(five),
            chg_20d=compounded(steps[own.STRENGTH_DAYS]),
            amount_share_pct=rows["amount_yi"].astype(float) / (whole if whole > 0 else np.nan) * 100,
        )

    def _changes(self, one: str, day: str, rows: pd.DataFrame) -> Any:
        if one == day:
            return rows["change_pct"].to_numpy(dtype=float, na_value=np.nan)
        reported = self._reported.get((EM, one))
        if reported is None:
            return np.full(len(rows), np.nan)
        return rows["industry_code"].map(reported["change_pct"]).to_numpy(dtype=float, na_value=np.nan)

    def _level(self, level: str, day: str) -> pd.DataFrame:
        indices = self._indices.get(day)
        if indices is None:
            return pd.DataFrame(
                columns=["name", "level", "close", "change_pct", "amount_yi", "amount_share_pct"]
            )
        return indices[indices["level"] == SW[level]]


DATASET = Dataset(
    name="industry_rank",
    subject="market",
    title="Rank and rotation of industries by trade date",
    model=IndustryRank,
    calculate=ranked,
    reads=("fusion_industry_index", "fusion_market_cloud_map", CLASSES),
    reads_own_past=True,
    of_stocks=False,
    freshness=trading(1, "trade_date"),
    tasks=("industry_rank_sync",),
    interfaces=(
        market("get_industry_rank", "industry_ranks", "industry rotation of a day", ttl=60).takes(
            trade_date=DAY, level="sw_l1", top_n=20
        ),
        timeseries("get_industry_rank_history", "newest_days", "rank series of one industry", ttl=600).takes(
            industry_code=REQUIRED, days=60
        ),
    ),
)
