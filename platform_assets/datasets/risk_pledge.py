"""raw_risk_pledge: pledged shares of every company, by week. A RAW table alone.

The list is that of the clearing house. It is of a Friday and comes out in the evening or at the weekend, so
a load asks for the week before as well.
"""

import pandas as pd

from core.days import moved
from core.declaration.columns import S64, Amt, Code, Date, F, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, market, stock
from core.declaration.rules import Partition, calendar_days
from core.declaration.scope import Scope
from core.market.securities import is_a_share
from platform_assets.datasets._notices import spans
from resources.upstreams.fetch_context import FetchContext

_PAST_DAYS = 2 * 366
"""Days that a request by codes reaches back."""
_SPAN_DAYS = 92
"""Days that one request for the market covers: thirteen lists stay below what the gateway pages."""


class RiskPledge(Model):
    """One company in the list of one week."""

    trade_date: Date = key("day of the list, a Friday")
    code: Code = key("security code")
    name: S64 = col(title="name")
    pledge_ratio: Pct = col("pct", "pledged shares / all shares", nullable=False, ge=0, le=100)
    pledge_shares_wan: F = col("wan_sh", "pledged shares", ge=0)
    pledge_market_value: Amt = col("wan", "their market value", ge=0)
    pledge_count: Int = col("", "pledges that run", ge=0)
    unrestricted_shares_wan: F = col("wan_sh", "pledged shares that may be sold", ge=0)
    restricted_shares_wan: F = col("wan_sh", "pledged shares that are locked", ge=0)
    industry: S64 = col(title="industry, as the portal calls it")
    change_1y_pct: Pct = col("pct", "change of the price in a year")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Six calls for a week of the market; codes: the lists of two years."""
    since, until = scope.event_days(ctx.calendar)
    if scope.codes is None:
        parts = [ctx.eastmoney.pledges(*days, None) for days in spans(since, until, _SPAN_DAYS)]
    else:
        first = moved(until, -_PAST_DAYS)
        parts = [ctx.eastmoney.pledges(first, until, codes) for codes in scope.code_groups()]
    rows = stacked(parts, ["trade_date", "code"])
    return rows[rows["code"].map(is_a_share).astype(bool)]


DATASET = Raw(
    name="risk_pledge",
    title="Pledged shares by week",
    model=RiskPledge,
    partition=Partition.EVENT_DATE,
    sources=(Source("eastmoney", portal),),
    late=5,
    freshness=calendar_days(14, "trade_date"),
    topical=True,
).alone(
    subject="holders",
    title="Pledged shares",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock("get_pledge", "history", "pledge ratio series", ttl=3600).takes(code=REQUIRED, limit=52),
        market("get_pledge_rank", "by_date", "highest pledge ratios", ttl=3600, order="-pledge_ratio").takes(
            trade_date=DAY, limit=100
        ),
    ),
)
