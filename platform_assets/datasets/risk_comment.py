"""raw_risk_comment: the portal's marks of every stock (千股千评) after each session. A RAW table alone.

The report holds the newest session alone, so a date that was not loaded in time has no row.
"""

import pandas as pd

from core.declaration.columns import S64, Code, Date, F, Int, Model, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, market, stock
from core.declaration.rules import trading
from core.declaration.scope import Scope
from core.market.securities import is_a_share
from resources.upstreams.fetch_context import FetchContext, current_session


class RiskComment(Model):
    """One stock on one trade date."""

    trade_date: Date = key("trade date")
    code: Code = key("security code")
    name: S64 = col(title="name")
    price: Px = col("CNY", "closing price", gt=0)
    change_pct: Pct = col("pct", "change of the day")
    total_score: F = col("", "the portal's mark, 0 to 100", ge=0, le=100)
    rank_no: Int = col("", "rank by the mark, from 1", ge=1)
    rank_change: Int = col("", "places gained since the session before")
    org_participation_pct: Pct = col("pct", "shares that institutions move", ge=0, le=100)
    focus_index: F = col("", "attention, 0 to 100", ge=0)
    prime_cost: Px = col("CNY", "mean cost of the large hands", gt=0)
    turnover_pct: Pct = col("pct", "turnover rate", ge=0)
    pe_dynamic: F = col("", "price / earnings, this year's run rate")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Eleven calls for the market, one for a hundred codes."""
    parts = [ctx.eastmoney.comments(scope.until, codes) for codes in scope.code_groups()]
    rows = pd.concat(parts, ignore_index=True)
    return rows[rows["code"].map(is_a_share).astype(bool)]


DATASET = Raw(
    name="risk_comment",
    title="The portal's marks of every stock by trade date",
    model=RiskComment,
    sources=(Source("eastmoney", portal, only_when=current_session),),
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="trading",
    title="Marks of stocks",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock("get_stock_comment", "history", "score and focus series", ttl=600).takes(
            code=REQUIRED, limit=30
        ),
        market("get_stock_comment_rank", "by_date", "score ranking", ttl=600).takes(
            trade_date=DAY, sort="-total_score", limit=100
        ),
    ),
)
