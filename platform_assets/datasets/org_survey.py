"""raw_org_survey: institutions that visited a company, one row for each visitor."""

import pandas as pd

from core.declaration.columns import K16, S32, S64, S255, Code, Date, Model, Text, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import REQUIRED, market, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.text_keys import hash_key
from platform_assets.datasets._notices import AGAIN_DAYS, by_notice
from resources.upstreams.fetch_context import FetchContext

_SPAN_DAYS = 14
"""Days of one request: after a report season a fortnight has ten thousand visitors and more."""


class OrgSurvey(Model):
    """One visitor of one visit."""

    code: Code = key("security code")
    survey_date: Date = key("first day of the visit")
    org_key: K16 = key("hash of the visitor's name")
    org_name: S255 = col(title="visitor", nullable=False)
    ann_date: Date = col(title="date of the notice")
    org_type: S32 = col(title="kind of institution")
    method: S64 = col(title="form of the visit")
    place: S255 = col(title="place")
    persons: S255 = col(title="who came")
    receiver: S255 = col(title="who received them")
    content: Text = col(title="what was said")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Surveys by the day of the notice: about four calls for an ordinary date, twenty after a report season.
    Codes: two calls for a hundred and more pages where they were visited often."""
    rows = by_notice(
        ctx,
        scope,
        "surveys",
        lambda portal: portal.surveys,
        ("code", "survey_date"),
        again=AGAIN_DAYS,
        span=_SPAN_DAYS,
    )
    if rows.empty:
        return rows
    keyed = rows.assign(org_key=[hash_key(name) for name in rows["org_name"]])
    # Reported twice (a correction), or two of one institution: the newest notice is kept.
    newest = keyed.sort_values("ann_date", kind="stable", na_position="first")
    return newest.drop_duplicates(subset=["code", "survey_date", "org_key"], keep="last")


DATASET = Raw(
    name="org_survey",
    title="Visits of institutions at companies, by visitor",
    model=OrgSurvey,
    partition=Partition.CODE,
    sources=(Source("eastmoney", portal),),
    per_code=True,
).alone(
    subject="holders",
    title="Visits of institutions at companies",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        stock(
            "get_org_survey", "newest", "institutions that visited a code, newest visit first", ttl=3600
        ).takes(code=REQUIRED, limit=50),
        market(
            "get_org_survey_rank", "most_visited", "codes with the most visitors in the last days", ttl=3600
        ).takes(days=30, limit=50),
    ),
)
