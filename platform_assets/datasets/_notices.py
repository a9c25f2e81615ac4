"""Rows that are asked by the day of their notice: what a load of some trade dates asks for.

A notice may concern a day long past (a count, a plan), so the rows are written code by code. Notices of
the week before are asked for once more: a day on which the upstream was away loses nothing.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from core.days import moved
from core.declaration.frames import stacked
from core.declaration.scope import Context, Scope
from core.market.securities import is_a_share
from resources.upstreams.fetch_context import FetchContext

if TYPE_CHECKING:
    from resources.upstreams.eastmoney.client import EastmoneyClient

AGAIN_DAYS = 7
SPAN_DAYS = 92
"""Days that one request covers: the gateway ends at 50,000 rows."""

Call = Callable[["EastmoneyClient"], Callable[[str | None, str, tuple[str, ...] | None], pd.DataFrame]]
"""The client of the portal -> its call of (first day or None, last day, codes or None for the market)."""


_AHEAD_DAYS = 10
"""Days before its date that a notice is on the site: the evening before, or the last one before a holiday."""


def is_announced(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The notice is not of a day to come, but for the next ones."""
    return ~(rows["ann_date"].fillna("") > moved(context.today, _AHEAD_DAYS))


def by_notice(
    ctx: FetchContext,
    scope: Scope,
    name: str,
    call: Call,
    key: Sequence[str],
    again: int = AGAIN_DAYS,
    span: int = SPAN_DAYS,
) -> pd.DataFrame:
    """Rows of A shares with a notice in the days of the scope, from the call `name`; of the scope's codes all
    that was known by their end. `again`: days before the scope that are asked for once more; `span`: days of
    one request. Tables of one run that ask alike share the answers; the reports' B shares and bonds are left
    out."""
    since, until = scope.event_days(ctx.calendar)

    def of(since: str | None, last: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
        return ctx.once((name, since, last, codes), lambda view: call(view.eastmoney)(since, last, codes))

    if scope.codes is None:
        parts = [of(first, last, None) for first, last in spans(moved(since, -again), until, span)]
    else:
        parts = [of(None, until, codes) for codes in scope.code_groups()]
    rows = stacked(parts, key)
    return rows[rows["code"].map(is_a_share).astype(bool)]


def spans(since: str, until: str, days: int = SPAN_DAYS) -> list[tuple[str, str]]:
    """[since, until] in parts of at most `days` days, oldest first."""
    found = []
    while since <= until:
        last = min(moved(since, days - 1), until)
        found.append((since, last))
        since = moved(last, 1)
    return found
