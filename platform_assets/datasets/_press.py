"""Shared by notices and news: the days of a scope, flash news, one row per headline, codes with events."""

from collections.abc import Callable

import pandas as pd

from core.days import moved
from core.declaration.scope import Scope
from core.text_keys import text_keys
from resources.upstreams.fetch_context import FetchContext

FIRST_DAY = "2000-01-01"
"""The platforms have nothing before it."""
MOST_EVENT_CODES = 300
FlashCall = Callable[[FetchContext], Callable[[str, int], pd.DataFrame]]
"""Fetch context -> the call of one of its clients: (first day, most items) -> flash news."""
MOST_FLASHES = {"eastmoney": 2_000, "cls": 2_000, "sina": 400}
"""Upstream -> items of a load: some two days of them in 40 calls, or in 20 of the one with short pages."""
_NEW_FOR_DAYS = 30
_LIMITS = ("up", "down")


def days_of(ctx: FetchContext, scope: Scope) -> tuple[str, str]:
    """First and last calendar day to ask for: those of the scope's trade dates; of named codes everything,
    up to the notices dated tomorrow that are up tonight."""
    if scope.codes is None:
        first, last = scope.event_days(ctx.calendar)
        return first, last
    return FIRST_DAY, moved(ctx.today, 1)


def spans(ctx: FetchContext, scope: Scope, most: int) -> list[tuple[str, str]]:
    """The days of each request: at most so many trade dates, since lists end after some
    pages; of named codes all at once."""
    if scope.codes is not None:
        return [days_of(ctx, scope)]
    parts = (scope.dates[at : at + most] for at in range(0, len(scope.dates), most))
    *before, (first, _) = (Scope(dates).event_days(ctx.calendar) for dates in parts)
    return [*before, (first, scope.event_days(ctx.calendar)[1])]


def inside(ctx: FetchContext, scope: Scope, rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows whose day or time lies within the scope."""
    since, until = days_of(ctx, scope)
    days = rows[column].str[:10]
    return rows[(days >= since) & (days <= until)]


def flashes(ctx: FetchContext, scope: Scope, upstream: str, call: FlashCall) -> pd.DataFrame:
    """Flash news that `call` gets from an upstream, within the dates of a scope, at most three days back.
    The tables of one run share the answers."""
    since, _ = scope.event_days(ctx.calendar)
    # A list that is read every day need not be read further back than what it may lack.
    first = max(since, moved(ctx.today, -3))
    reported = ctx.once(("flashes", upstream, first), lambda view: call(view)(first, MOST_FLASHES[upstream]))
    return inside(ctx, scope.whole, reported, "pub_time")


def one_per_headline(rows: pd.DataFrame, *, time: str, text: str) -> pd.DataFrame:
    """`title_key` added, and one row per code and headline left: the earliest, with the longest text."""
    keyed = rows.assign(title_key=text_keys(rows["title"]))
    keyed = keyed[keyed["title_key"].notna()]
    if not keyed.duplicated(subset=["code", "title_key"]).any():
        return keyed
    longest = keyed.assign(_length=keyed[text].str.len().fillna(0)).sort_values("_length", kind="stable")
    longest = longest.drop_duplicates(subset=["code", "title_key"], keep="last")
    first = keyed.sort_values(time, kind="stable").drop_duplicates(subset=["code", "title_key"])
    texts = first[["code", "title_key"]].merge(longest[["code", "title_key", text]], how="left")
    return first.assign(**{text: texts[text].to_numpy()})


def event_codes(ctx: FetchContext, scope: Scope) -> list[str]:
    """Codes that something happened to in the days of a scope: a notice that matters, a close at the limit,
    a new listing. At most 300, the weightier events first: the search is asked code by code. Of a watch list
    all of its own, which are few."""
    if ctx.watched is not None:
        return sorted(ctx.watched)[:MOST_EVENT_CODES]
    since, until = scope.event_days(ctx.calendar)
    notices = ctx.read("fusion_announcement", columns=("code", "importance"), since=since, until=until)
    bars = ctx.read("fusion_kline_daily", columns=("code", "limit_status"), **scope.span)
    listed = ctx.read("fusion_stock_master", columns=("code", "list_date"))
    newest = moved(until, -_NEW_FOR_DAYS)
    listed = listed[listed["list_date"].notna()]
    young = listed[(listed["list_date"] > newest) & (listed["list_date"] <= until)]
    found = [
        *sorted(notices[notices["importance"] == 3]["code"]),
        *sorted(bars[bars["limit_status"].isin(list(_LIMITS))]["code"]),
        *sorted(young["code"]),
        *sorted(notices[notices["importance"] == 2]["code"]),
    ]
    return list(dict.fromkeys(found))[:MOST_EVENT_CODES]
