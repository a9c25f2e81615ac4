"""Risk columns of the wide table: shares that are pledged, and goodwill against equity."""

import pandas as pd

from core.days import moved
from resources.upstreams.fetch_context import FetchContext

OWNERS = {
    "pledge_ratio": ("raw_risk_pledge", "pledge_ratio"),
    "goodwill_ratio": ("raw_risk_goodwill", "goodwill_equity_ratio_pct"),
}
"""Column of the wide table -> where it is taken from."""
_LIST_DAYS = 21
"""A list of pledges that is older than this is no longer shown."""
Codes = tuple[str, ...] | None


def pledged(ctx: FetchContext, day: str, codes: Codes) -> pd.DataFrame:
    """Pledged share of each code in the newest list before `day`: that of the day itself comes out in the
    evening. A code that is not in the list has no known pledge."""
    columns = ("code", "trade_date", "pledge_ratio")
    stored = ctx.read(
        "raw_risk_pledge", columns=columns, codes=codes, since=moved(day, -_LIST_DAYS), until=moved(day, -1)
    )
    newest = stored[stored["trade_date"] == stored["trade_date"].max()]
    return newest[["code", "pledge_ratio"]]


def goodwill(ctx: FetchContext, day: str, codes: Codes, since: str) -> pd.DataFrame:
    """Goodwill / equity of the newest report period of each code, of those that were announced by `day`."""
    columns = ("code", "report_period", "goodwill_equity_ratio_pct", "ann_date")
    stored = ctx.read("raw_risk_goodwill", columns=columns, codes=codes, since=since, until=day)
    known = stored[stored["ann_date"].notna() & (stored["ann_date"].fillna("") <= day)]
    newest = known.sort_values(["code", "report_period"]).drop_duplicates(subset="code", keep="last")
    return newest[["code", "goodwill_equity_ratio_pct"]].set_axis(["code", "goodwill_ratio"], axis=1)
