"""raw_holding_org: shares of a company that institutions held at the end of a report period."""

import pandas as pd

from core.days import moved
from core.declaration.columns import S16, Amt, Big, Code, Date, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, TEXT, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.market.securities import is_a_share
from core.report_periods import open_on_any
from platform_assets.datasets._rotation import in_season
from resources.upstreams.fetch_context import FetchContext

KINDS = ("fund", "qfii", "social", "broker", "insurance", "trust")
ALL = "all"
_KEY = ["code", "report_period"]
_PAST_DAYS = 3 * 366
"""Days that a request by codes reaches back."""


class HoldingOrg(Model):
    """Holding of one kind of institution in one company."""

    code: Code = key("security code")
    report_period: Date = key("end of the report period")
    org_type: S16 = key("kind of institution, or all of them", isin=[*KINDS, ALL])
    org_count: Int = col("", "institutions", ge=0)
    hold_shares: Big = col("sh", "shares held", ge=0)
    hold_value: Amt = col("CNY", "value of the shares", ge=0)
    ratio_total_pct: Pct = col("pct", "shares held / all shares", ge=0, le=100)
    ratio_float_pct: Pct = col("pct", "shares held / float shares", ge=0)
    change_shares: Big = col("sh", "change since the period before")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The periods that are being disclosed on the scope's dates, up to eleven calls for each of six kinds.
    Codes: the periods of three years, a call for about twenty-five codes."""
    if scope.codes is not None:
        since = moved(scope.until, -_PAST_DAYS)
        parts = [ctx.eastmoney.org_holdings_of(codes, since, scope.until) for codes in scope.named_groups()]
    else:
        parts = [
            ctx.eastmoney.org_holdings(period, kind) for period in open_on_any(scope.dates) for kind in KINDS
        ]
    rows = stacked(parts, [*_KEY, "org_type"])
    return with_sums(rows[rows["code"].map(is_a_share).astype(bool)]) if len(rows) else rows


def with_sums(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows and, for each company and period, the sum over the kinds that are there."""
    figures = [name for name in rows.columns if name not in (*_KEY, "org_type")]
    sums = rows.groupby(_KEY, as_index=False)[figures].sum(min_count=1).assign(org_type=ALL)
    return pd.concat([rows, sums], ignore_index=True)


DATASET = Raw(
    name="holding_org",
    title="Shares held by institutions, by report period and kind",
    model=HoldingOrg,
    partition=Partition.CODE,
    sources=(Source("eastmoney", portal, only_when=in_season),),
).alone(
    subject="holders",
    title="Shares held by institutions",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock(
            "get_holding_org",
            "newest_periods",
            "shares of a code that institutions held, newest period first",
            ttl=3600,
        ).takes(code=REQUIRED, periods=8, org_type=TEXT),
    ),
)
