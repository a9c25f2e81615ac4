"""raw_index_constituent: members of the broad indices and of the SW industries. A RAW table alone.

Held is the newest list of each index: CSI's weights of the last month end and, where members have changed
since, its present members without weights; CNI's weights of the last month end; the industries of every
stock as they are today, and those that it has left, under the last day on which it was in them: figures of a
past date take the industries of then. An industry's level follows from its code (see `stock_industry`).
"""

import pandas as pd

from core.days import moved
from core.declaration.columns import S8, S16, S64, Code, Date, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, market
from core.declaration.rules import Contract, Partition, calendar_days
from core.declaration.scope import Context, Scope
from core.errors import NotServed, PayloadError, Permanent
from platform_assets.datasets._industries import LEVELS, indices_now
from platform_assets.datasets.index_daily import INDICES
from resources.upstreams.fetch_context import FetchContext

CSI, CNI, SW = "csi", "cni", "sw"


class IndexConstituent(Model):
    """One member of one index."""

    provider: S8 = key("csi, cni, sw", isin=[CSI, CNI, SW])
    index_code: S16 = key("index: sh000300, sz399001, 801780")
    code: Code = key("security code")
    as_of_date: Date = key("date of the list; of an industry that the stock has left its last day there")
    index_name: S64 = col(title="name of the index")
    name: S64 = col(title="name of the security")
    weight_pct: Pct = col("pct", "weight; not published for industries and for present members", ge=0, le=100)
    in_date: Date = col(title="day it came into the industry; not published for other indices")


# -- sources ----------------------------------------------------------------------------------------


def csi_files(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls an index. An index that the provider does not publish is left out."""

    def of(symbol: str) -> pd.DataFrame:
        try:
            weights = ctx.csindex.weights(symbol[2:])
            present = ctx.csindex.members(symbol[2:])
            changed = set(present["code"]) != set(weights["code"])
            both = [weights, present] if changed else [weights]
            return pd.concat(both, ignore_index=True).assign(index_code=symbol)
        except Permanent as error:
            raise NotServed(f"{symbol}: not published by the provider") from error

    parts = ctx.each(of, [one for one in INDICES if one.startswith("sh")], code_of=str)
    if not parts:
        raise PayloadError("the provider publishes none of the indices", source="csindex")
    return _named(ctx, scope, pd.concat(parts, ignore_index=True).assign(provider=CSI))


def cni_sample(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call an index: the last month end, or the one before while that is not out. None of either month is
    no failure; how old the stored list is, is watched."""
    parts = []
    for symbol in (one for one in INDICES if one.startswith("sz")):
        for back in (1, 2):
            month = str(pd.Period(ctx.today, "M") - back)
            rows = ctx.cnindex.sample(symbol[2:], month)
            if len(rows):
                parts.append(rows.assign(index_code=symbol, index_name=INDICES[symbol]))
                break
    rows = stacked(parts, ["index_code", "code", "as_of_date"]).assign(provider=CNI)
    return _named(ctx, scope, rows) if len(rows) else rows


def sw_classes(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The classification of every stock, with the classes that it has left: two workbooks, and the lists of
    the indices for their codes (about twelve calls)."""
    index_of = {}
    for level in LEVELS:
        listed = indices_now(ctx, level)
        index_of[level] = dict(zip(listed["name"], listed["code"], strict=True))
    spans = ctx.sw.class_days(ctx.today)
    left = spans.groupby("code")["in_date"].shift(-1)
    day = ctx.calendar.on_or_before(ctx.today)
    spans["until"] = [moved(following, -1) if isinstance(following, str) else day for following in left]
    # A class of an edition before the present one has no index.
    classed = spans.merge(ctx.sw.classes(), on="class_code", how="inner")
    parts = [
        pd.DataFrame(
            {
                "provider": SW,
                "index_code": classed[f"{level}_name"].map(index_of[level]),
                "code": classed["code"],
                "as_of_date": classed["until"],
                "index_name": classed[f"{level}_name"],
                "in_date": classed["in_date"],
            }
        )
        for level in LEVELS
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows[rows["index_code"].notna()]
    if rows.empty:
        raise PayloadError("no class has an index", source="sw")
    return _named(ctx, scope, rows.assign(name=None))


def _named(ctx: FetchContext, scope: Scope, rows: pd.DataFrame) -> pd.DataFrame:
    """Members of the scope; missing names are those of the terminal's list."""
    listed = ctx.securities()
    names = rows["code"].map(dict(zip(listed["code"], listed["name"], strict=True)))
    rows = rows.assign(name=rows["name"].where(rows["name"].notna(), names))
    return rows if scope.codes is None else rows[rows["code"].isin(list(scope.codes))]


def is_of_the_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No list is of a day to come."""
    return rows["as_of_date"] <= context.today


DATASET = Raw(
    name="index_constituent",
    title="Members of indices and industries, with weights",
    model=IndexConstituent,
    partition=Partition.SNAPSHOT,
    sources=(
        Source("csindex", csi_files, parts=(CSI,)),
        Source("cnindex", cni_sample, parts=(CNI,)),
        Source("sw", sw_classes, parts=(SW,)),
    ),
    combine="all",
    replace_by=("provider", "index_code"),
    contract=(Contract(is_of_the_past, "a list of a day to come"),),
    freshness=calendar_days(45, "as_of_date"),
    topical=True,
    may_be_empty=False,
).alone(
    subject="companies",
    title="Members of indices and industries",
    tasks=("fusion_wide_sync", "eod_core"),
    interfaces=(
        market("get_index_constituents", "index_members", "members of an index or industry", ttl=86400).takes(
            index_code=REQUIRED, provider="csi"
        ),
        market(
            "get_index_weights",
            "index_weights",
            "members of an index with their weights, the heaviest first",
            ttl=86400,
        ).takes(index_code=REQUIRED, limit=100),
    ),
)
