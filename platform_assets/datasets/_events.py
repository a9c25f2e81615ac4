"""What the datasets of dated events share: asking a report for a range of dates, and by codes."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from platform_assets.declaration.scope import Context, Scope

_MOST_DATES = 20
"""Dates of the market that are asked for at once: their rows stay far below what the gateway pages."""
_MOST_OF_CODES = 250
"""Dates of at most a hundred codes: a year of them is a few pages."""
YEAR_OF_CODE = 250
"""Trade dates of one code that a download by codes asks a report for."""


def by_dates(desk: Any, scope: Scope, name: str, call: Callable[[Any], Any]) -> pd.DataFrame:
    """`call(desk.eastmoney)(since, until, codes)` over the scope, shared by the tables of one run. Rows of
    days between that are not asked for are left out."""
    found = []
    most = _MOST_DATES if scope.codes is None else _MOST_OF_CODES
    for at in range(0, len(scope.dates), most):
        some = scope.dates[at : at + most]
        for codes in scope.code_groups():
            found.append(_asked(desk, name, call, some[0], some[-1], codes))
    rows = pd.concat(found, ignore_index=True) if len(found) > 1 else found[0].copy()
    return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)


def _asked(
    desk: Any,
    name: str,
    call: Callable[[Any], Any],
    since: str,
    until: str,
    codes: tuple[str, ...] | None,
) -> pd.DataFrame:
    found: pd.DataFrame = desk.once(
        (name, since, until, codes), lambda view: call(view.eastmoney)(since, until, codes)
    )
    return found


def trade_dates_only(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The date is a trade date."""
    return rows["date"].map(context.calendar.is_trade_date).astype(bool)
