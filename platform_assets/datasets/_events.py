"""Shared by the datasets of dated events: asking a report for a range of dates, and by codes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from core.declaration.scope import Context, Scope
from resources.upstreams.fetch_context import FetchContext

if TYPE_CHECKING:
    from resources.upstreams.eastmoney import EastmoneyClient

EventCall = Callable[["EastmoneyClient"], Callable[[str, str, tuple[str, ...] | None], pd.DataFrame]]
"""The client of the portal -> its call of (first date, last date, codes or None for the market)."""
_MOST_DATES = 20
"""Dates that are asked for at once: their rows stay far below what the gateway pages."""
_FEW_CODES = 5
"""So few codes have few events: their whole range is one request."""


def by_dates(ctx: FetchContext, scope: Scope, name: str, call: EventCall) -> pd.DataFrame:
    """`call(ctx.eastmoney)(since, until, codes)` over the scope, shared by the tables of one run. Rows of
    days between that are not asked for are left out."""
    found = []
    few = scope.codes is not None and len(scope.codes) <= _FEW_CODES
    step = len(scope.dates) if few else _MOST_DATES
    for at in range(0, len(scope.dates), step):
        some = scope.dates[at : at + step]
        for codes in scope.code_groups():
            found.append(_asked(ctx, name, call, some[0], some[-1], codes))
    rows = pd.concat(found, ignore_index=True) if len(found) > 1 else found[0].copy()
    return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)


def _asked(
    ctx: FetchContext,
    name: str,
    call: EventCall,
    since: str,
    until: str,
    codes: tuple[str, ...] | None,
) -> pd.DataFrame:
    found: pd.DataFrame = ctx.once(
        (name, since, until, codes), lambda view: call(view.eastmoney)(since, until, codes)
    )
    return found


def trade_dates_only(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The date is a trade date."""
    return rows["date"].map(context.calendar.is_trade_date).astype(bool)
