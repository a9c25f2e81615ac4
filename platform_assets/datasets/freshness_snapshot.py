"""calc_freshness_snapshot: how old every watched table was on a day, as `/datamgr/stats/freshness` reports
it.

It is about the day on which it is taken, so there are no partitions: what was stale on a past day cannot be
found out later. A day that is taken again shows its last state.
"""

from typing import Any

import pandas as pd

from core.days import moved
from core.declaration.columns import S16, S64, S255, Bool, Date, Int, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import market
from core.declaration.registry import FreshnessDimension, builtin_registry
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.errors import PlatformError
from platform_assets.compute.freshness import cutoff, is_stale
from resources.upstreams.fetch_context import FetchContext

_MAX_ERROR = 200


class FreshnessSnapshot(Model):
    """One watched table on one day."""

    snapshot_date: Date = key("day of the snapshot")
    dimension: S64 = key("table")
    kind: S16 = col(
        title="unit of max_lag: trade dates, days, or days after the end of a report period",
        nullable=False,
        isin=["trading", "calendar", "period"],
    )
    max_lag: Int = col("", "how old it may be", nullable=False, ge=0)
    latest_date: Date = col(title="newest day stored")
    cutoff: Date = col(title="oldest day that is fresh")
    is_stale: Bool = col(title="older than that", nullable=False)
    error: S255 = col(title="why it is not known")


def taken(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A row per watched table; one that cannot be read carries its error and hurts no other."""
    rows = [_judged(ctx, one) for one in builtin_registry().freshness()]
    return pd.DataFrame(rows, columns=list(FreshnessSnapshot.to_schema().columns))


def _judged(ctx: FetchContext, dimension: FreshnessDimension) -> dict[str, Any]:
    rule = dimension.rule
    row: dict[str, Any] = {
        "snapshot_date": ctx.today, "dimension": dimension.table, "kind": rule.kind, "max_lag": rule.max_lag,
        "is_stale": False,
    }  # fmt: skip
    try:
        # Releases and schedules carry days to come; they say nothing about what has arrived.
        latest = ctx.latest(dimension.table, rule.column, moved(ctx.today, 1))
        limit = cutoff(rule, ctx.today, ctx.calendar)
    except PlatformError as error:
        return {**row, "error": error.message[:_MAX_ERROR]}
    return {**row, "latest_date": latest, "cutoff": limit, "is_stale": is_stale(latest, limit)}


DATASET = Dataset(
    name="freshness_snapshot",
    subject="operations",
    title="Freshness of the watched tables, day by day",
    layer=Layer.CALC,
    model=FreshnessSnapshot,
    partition=Partition.SNAPSHOT,
    sources=(Source("derived", taken),),
    of_stocks=False,
    monitored=False,
    tasks=("freshness_snapshot",),
    interfaces=(
        market(
            "get_data_freshness",
            "freshness",
            "persisted freshness of every dimension",
            ttl=600,
            returns="object",
        ),
    ),
)
