"""raw_limitup_reason: why each limit-up of a date happened, in the words of the topic portal."""

from typing import Any

import pandas as pd

from core.declaration.columns import S8, S16, S64, S255, Amt, Bool, Code, Date, F, Json, Model, Text, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import canonical_json, stacked
from core.declaration.interfaces import DAY, REQUIRED, TEXT, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.datasets.limit_pool import topic_pool
from resources.upstreams.fetch_context import FetchContext, within_last


class RawLimitupReason(Model):
    """One limit-up on one date."""

    trade_date: Date = key("trade date")
    code: Code = key("security code")
    name: S64 = col(title="name", nullable=False)
    reason: S255 = col(title="topics joined by +")
    tags: Json = col(title="the topics of `reason`")
    board_type: S16 = col(title="换手板, 一字板, T字板")
    seal_rate: F = col("", "share of the touched limit-ups of a year that held", ge=0, le=1)
    seal_amount: Amt = col("CNY", "money in the queue at the limit", ge=0)
    high_days: S16 = col(title="首板, or N天M板")
    first_time: S8 = col(title="HH:MM:SS of the first seal")
    last_time: S8 = col(title="HH:MM:SS of the last seal")
    is_again: Bool = col(title="at the limit on the trade date before as well")
    detail: Text = col(title="the reason at length", no_source="no documented field")


def topic_portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call a date, shared with the limit pools. The strong stocks of a date have reasons as well, but do
    not show which closed at the limit: they are no second source."""
    found = (topic_pool(ctx, "up", day) for day in scope.dates)
    rows = stacked(found, ["trade_date", "code", "reason", "is_again"])
    rows = rows[rows["code"].map(scope.covers).astype(bool)].rename(
        columns={"seal_fund": "seal_amount", "first_seal_time": "first_time", "last_seal_time": "last_time"}
    )
    rows["tags"] = rows["reason"].map(_tags)
    rows["is_again"] = rows["is_again"].map({0.0: False, 1.0: True})
    return rows


def _tags(reason: Any) -> str | None:
    parts = [part.strip() for part in reason.split("+")] if isinstance(reason, str) else []
    kept = list(dict.fromkeys(part for part in parts if part))
    return canonical_json(kept) if kept else None


DATASET = Raw(
    name="limitup_reason",
    title="Why each limit-up of a date happened",
    model=RawLimitupReason,
    sources=(Source("ths", topic_portal, within_last(240)),),
    replace_by=("trade_date",),
    freshness=trading(1, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Reasons of limit-ups",
    tasks=("limitup_reason_sync", "eod_core"),
    interfaces=(
        market("get_limitup_reason", "by_date", "limit-up reasons", ttl=600, order="first_time").takes(
            trade_date=DAY, keyword=TEXT
        ),
        timeseries("get_limitup_reason_history", "history", "reasons of one code", ttl=600).takes(
            code=REQUIRED, limit=30
        ),
    ),
)
