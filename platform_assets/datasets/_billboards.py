"""The exchanges' own billboards, second sources of what the portal reports.

They are asked every evening (one call a date at Shanghai, about two at Shenzhen), which is what the portal is
measured against; their listings are staged for the dates of which the portal has nothing, where the portal
will have the same key for them.
"""

import pandas as pd

from core.declaration.scope import Scope
from resources.upstreams.exchanges.szse_billboard import PORTAL_WORDS
from resources.upstreams.fetch_context import FetchContext

OFFICIAL = ("szse", "sse")
_MOST_DATES = 10
"""As many as `exchange_sync` asks for."""


def few_dates(ctx: FetchContext, scope: Scope) -> bool:
    """The market of a few dates: the exchanges cannot be asked by code, and one call a date adds up. Counted
    are the requested dates, without the late one before them."""
    return scope.codes is None and len(scope.asked) <= _MOST_DATES


def shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Shenzhen's listings, one call for twenty."""
    rows: pd.DataFrame = ctx.szse.billboard(scope.since, scope.until)
    return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)


def shanghai(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Shanghai's listings, one call for a date."""
    return _of_dates(ctx, scope, 0)


def shanghai_seats(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The seats behind it: the same answers, no further call."""
    return _of_dates(ctx, scope, 1)


def _of_dates(ctx: FetchContext, scope: Scope, part: int) -> pd.DataFrame:
    found = [_billboard_of(ctx, day)[part] for day in scope.dates]
    return pd.concat(found, ignore_index=True) if len(found) > 1 else found[0].copy()


def _billboard_of(ctx: FetchContext, day: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Shanghai's listings of a date and their seats, asked once per run."""
    return ctx.once(("sse_billboard", day), lambda view: view.sse.billboard(day))


def where_the_portal_is_silent(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without the exchanges' own of dates on which the portal has rows: it has theirs, with more
    columns."""
    reported = set(rows.loc[rows["src"] == "eastmoney", "date"])
    return rows[~(rows["src"].isin(list(OFFICIAL)) & rows["date"].isin(reported))]


def of_known_rules(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without Shenzhen's under a rule that is not known. The portal words such a rule otherwise, so
    the listing would stay as a second row next to the portal's."""
    return rows[(rows["src"] != "szse") | rows["reason"].isin(PORTAL_WORDS)]
