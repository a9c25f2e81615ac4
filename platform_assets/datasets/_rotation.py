"""How the F10 tables cover the market without asking for every code every day: by report period in season,
else once a week; by code those with an event first, then a hundred in turn."""

from core.days import monday_of
from core.declaration.scope import Scope
from core.report_periods import periods_due
from resources.upstreams.fetch_context import FetchContext

ROTATION = 100
"""Codes of a day that are asked for although nothing happened to them: all of them in 55 trade dates."""
MOST_EVENT_CODES = 100
_FIRST_TURN = "2020-01-02"
REPORTS = ("cninfo_periodic_report",)
"""Tables that `reported_codes` reads without the listings, for tables that the list of securities is made
of."""
REPORTED = (*REPORTS, "fusion_stock_master")
"""Tables that `reported_codes` reads: for `Raw.reads`."""


def in_season(ctx: FetchContext, scope: Scope) -> bool:
    """While a report period is disclosed, else on the first trade date of a week. Codes and ranges always."""
    if scope.codes is not None or scope.is_range:
        return True
    day = scope.until
    return bool(periods_due(day)) or ctx.calendar.offset(day, -1) < monday_of(day)


def reported_codes(ctx: FetchContext, scope: Scope, *, listings: bool = True) -> list[str]:
    """Codes that published a periodic report in the days of the scope, or (`listings`) were listed in them;
    at most a hundred; the others follow in turn."""
    since, until = scope.event_days(ctx.calendar)
    dated = [(ctx.read("cninfo_periodic_report", columns=("code", "actual_date")), "actual_date")]
    if listings:
        listed = ctx.read("fusion_stock_master", columns=("code", "list_date"))
        dated.insert(0, (listed, "list_date"))
    found: list[str] = []
    for rows, column in dated:
        days = rows[column].astype(object).where(rows[column].notna(), "")
        found += sorted(rows[(days >= since) & (days <= until)]["code"])
    return list(dict.fromkeys(found))[:MOST_EVENT_CODES]


def codes_in_turn(ctx: FetchContext, scope: Scope) -> list[str]:
    """The hundred stocks whose turn it is on the scope's last date, by code."""
    codes = sorted(symbol[2:] for symbol in ctx.symbols(None, "stock"))
    if len(codes) <= ROTATION:
        return codes
    turn = len(ctx.calendar.between(_FIRST_TURN, scope.until))
    first = turn * ROTATION % len(codes)
    return [*codes, *codes][first : first + ROTATION]


def codes_to_fetch(ctx: FetchContext, scope: Scope, *, listings: bool = True) -> tuple[str, ...]:
    """The scope's codes; of the whole market those with an event and those in turn."""
    if scope.codes is not None:
        return scope.codes
    events = reported_codes(ctx, scope, listings=listings)
    return tuple(dict.fromkeys([*events, *codes_in_turn(ctx, scope)]))
