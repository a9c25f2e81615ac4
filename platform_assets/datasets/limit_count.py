"""calc_limit_count: limit-ups and limit-downs of each date, counted from our bars and from the portal's
pools.

A count from bars compares the close with the date's own limit price; a pool is the portal's list. Where
they differ `diff_note` names the codes. Nothing of one side is filled in from the other.
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from core.declaration.columns import S255, Date, Int, Model, Pct, col, key
from core.declaration.dataset import Dataset
from core.declaration.interfaces import timeseries
from core.declaration.scope import Scope
from platform_assets.compute.limit_days import sealed_share
from platform_assets.datasets._limit_days import LimitDays, limit_days, pool_codes, pool_measures, pool_rows
from resources.upstreams.fetch_context import FetchContext

_NAMED = 4
"""Codes that a note names of each side."""


class LimitCount(Model):
    """One date. Every stock counts, also those under special treatment."""

    trade_date: Date = key("trade date")
    up_recomputed: Int = col("", "closes at the limit-up price", ge=0)
    down_recomputed: Int = col("", "closes at the limit-down price", ge=0)
    broken_recomputed: Int = col("", "limit-up touched and not held", ge=0)
    up_official: Int = col("", "the same as the portal's pools have it", ge=0)
    down_official: Int = col("", "limit-downs of the pools", ge=0)
    broken_official: Int = col("", "broken limit-ups of the pools", ge=0)
    seal_rate_pct: Pct = col("pct", "held / touched; from bars, else from the pools", ge=0, le=100)
    max_limit_days: Int = col("", "longest streak without special treatment; from bars, else pools", ge=0)
    diff_note: S255 = col(title="codes that one side alone has")


def counted(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A row per date of which bars or pools are stored."""
    pools = pool_rows(ctx, scope.since, scope.until)
    requested = set(scope.dates)
    rows = [
        row
        for some in limit_days(ctx, ctx.calendar.between(scope.since, scope.until))
        for row in _rows(some, pools)
        if row["trade_date"] in requested
    ]
    return pd.DataFrame(rows, columns=list(LimitCount.to_schema().columns))


def _rows(some: LimitDays, pools: pd.DataFrame) -> Iterator[dict[str, Any]]:
    counts = some.counts
    shares = sealed_share(counts.all_up, counts.all_broken)
    for at in range(some.first, len(some.dates)):
        day = some.dates[at]
        reported = pool_codes(pools, day)
        row = {
            "trade_date": day,
            "up_recomputed": counts.all_up[at],
            "down_recomputed": counts.all_down[at],
            "broken_recomputed": counts.all_broken[at],
            "seal_rate_pct": shares[at],
            "max_limit_days": counts.max_boards[at],
        }
        has_bars = not math.isnan(counts.all_up[at])
        if reported is not None:
            row |= {f"{pool}_official": len(codes) for pool, codes in reported.items()}
            if has_bars:
                row["diff_note"] = _difference(some, at, reported)
            else:
                row |= _of_pools(pools, day, reported)
        if has_bars or reported is not None:
            yield row


def _of_pools(pools: pd.DataFrame, day: str, reported: dict[str, set[str]]) -> dict[str, float]:
    touched = len(reported["up"]) + len(reported["broken"])
    return {
        "seal_rate_pct": len(reported["up"]) / touched * 100 if touched else float("nan"),
        "max_limit_days": pool_measures(pools, day).get("max_limit_days", 0.0),
    }


def _difference(some: LimitDays, at: int, reported: dict[str, set[str]]) -> str | None:
    parts = []
    for pool, listed in reported.items():
        ours = some.codes_of(getattr(some.window, pool), at)  # the bars in the state that the pool lists
        for side, codes in (("bars", ours - listed), ("pool", listed - ours)):
            if codes:
                shown = " ".join(sorted(codes)[:_NAMED])
                more = "" if len(codes) <= _NAMED else " .."
                parts.append(f"{pool}: {side} alone {len(codes)} ({shown}{more})")
    return "; ".join(parts)[:255] or None


DATASET = Dataset(
    name="limit_count",
    subject="trading",
    title="Limit-ups and limit-downs by trade date, from bars and from the pools",
    model=LimitCount,
    calculate=counted,
    reads=("raw_limit_pool", "fusion_kline_daily", "ref_name_history"),
    of_stocks=False,
    monitored=False,
    tasks=("market_phase_sync",),
    interfaces=(
        timeseries("get_limit_count_history", "newest_days", "limit-up and limit-down counts", ttl=600).takes(
            days=60
        ),
    ),
)
