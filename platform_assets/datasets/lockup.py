"""raw_lockup: releases of locked shares (限售解禁) of the past and the next 365 days. A RAW table alone.

A release is planned long before and may be moved: every download holds all of the window, and what it lacks
is withdrawn.
"""

import pandas as pd

from core.days import moved
from core.declaration.columns import S64, Amt, Big, Code, Date, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, market, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from resources.upstreams.fetch_context import FetchContext

WINDOW_DAYS = 365


class RawLockup(Model):
    """One release of one kind of shares."""

    code: Code = key("security code")
    free_date: Date = key("date of the release, maybe to come")
    share_type: S64 = key("kind of the shares")
    free_shares: Big = col("sh", "shares released", ge=0)
    able_shares: Big = col("sh", "of these, shares that can be sold at once", ge=0)
    ratio_total_pct: Pct = col("pct", "shares released / all shares", ge=0, le=100)
    ratio_float_pct: Pct = col("pct", "shares released / float shares before", ge=0)
    market_value: Amt = col("CNY", "shares released x the newest close known", ge=0)
    holder_count: Int = col("", "holders whose shares are released", ge=0)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The window around today: about sixteen calls for the market, one for a hundred codes."""
    since, until = moved(ctx.today, -WINDOW_DAYS), moved(ctx.today, WINDOW_DAYS)
    found = [ctx.eastmoney.lockups(since, until, codes) for codes in scope.code_groups()]
    return pd.concat(found, ignore_index=True)


DATASET = Raw(
    name="lockup",
    title="Releases of locked shares, past and planned",
    model=RawLockup,
    partition=Partition.SNAPSHOT,
    sources=(Source("eastmoney", portal),),
    replace="snapshot",
    per_code=True,
).alone(
    subject="holders",
    title="Releases of locked shares",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        stock("get_lockup", "around_today", "lock-up releases of a code, past and planned", ttl=3600).takes(
            code=REQUIRED, days=365, forward_days=90
        ),
        market(
            "get_lockup_calendar", "calendar_range", "lock-up releases of the market by date", ttl=3600
        ).takes(start_date=DAY, end_date=DAY, limit=200),
    ),
)
