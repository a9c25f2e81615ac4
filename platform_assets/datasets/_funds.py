"""Shared by the datasets of listed funds: the quote site's values added to a list, and the session's rows."""

import pandas as pd

from core.declaration.scope import Scope
from core.errors import PayloadError, Unavailable, UpstreamError
from resources.upstreams.fetch_context import FetchContext

_YI_OF_CNY = 1e8
_VALUES = ("nav", "dividend_yield", "premium_pct")


def with_values(ctx: FetchContext, listed: pd.DataFrame) -> pd.DataFrame:
    """The rows with net asset value, premium and yield from the quote site's batch; without them when it is
    away: prices do not wait for it."""
    try:
        quotes = ctx.site_quotes()
    except (UpstreamError, PayloadError, Unavailable):
        return listed
    reported = quotes[["symbol", *_VALUES]]
    return listed.drop(columns=[*_VALUES], errors="ignore").merge(reported, how="left", on="symbol")


def of_scope(rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Rows of the session that traded, with their market value in 100m CNY. A fund that did not trade keeps
    the date of its last trade."""
    requested = rows["code"].map(scope.covers).astype(bool) & (rows["trade_date"] == scope.until)
    rows = rows[requested & rows["price"].notna()].reset_index(drop=True)
    return rows.assign(market_cap_yi=rows["price"] * rows["total_shares"] / _YI_OF_CNY)
