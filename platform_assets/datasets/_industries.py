"""Shared by the tables of the industry classification: its daily analysis and its indices."""

import pandas as pd

from core.declaration.scope import Scope
from resources.upstreams.fetch_context import FetchContext

LEVELS = ("l1", "l2", "l3")


def sw_report(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The daily analysis of all levels on the scope's dates, month by month, once a run."""
    months: dict[str, list[str]] = {}
    for day in scope.dates:
        months.setdefault(day[:7], []).append(day)
    parts = [_asked(ctx, level, days[0], days[-1]) for days in months.values() for level in LEVELS]
    rows = pd.concat(parts, ignore_index=True)
    return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)


def indices_now(ctx: FetchContext, level: str) -> pd.DataFrame:
    """The current indices of a level, asked once per run."""
    return ctx.once(("sw_current", level), lambda view: view.sw.current(level))


def _asked(ctx: FetchContext, level: str, since: str, until: str) -> pd.DataFrame:
    return ctx.once(("sw_report", level, since, until), lambda view: view.sw.report(level, since, until))
