"""Shared by the datasets of dated events: asking a report for a range of dates, and by codes; changes of
price after an event, from our own bars; whether a list with prices is of the session it is taken for."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from core.declaration.scope import Context, Scope
from core.errors import PayloadError
from resources.upstreams.fetch_context import FetchContext

if TYPE_CHECKING:
    from resources.upstreams.eastmoney.client import EastmoneyClient

EventCall = Callable[["EastmoneyClient"], Callable[[str, str, tuple[str, ...] | None], pd.DataFrame]]
"""The client of the portal -> its call of (first date, last date, codes or None for the market)."""
EXCHANGES = ("SSE", "SZSE", "BSE")
"""Parts of a list of the whole market; the portal's reports hold all of them."""
_MOST_DATES = 20
"""Dates that are asked for at once: their rows stay far below what the gateway pages."""
_FEW_CODES = 5
"""So few codes have few events: their whole range is one request."""


def by_dates(ctx: FetchContext, scope: Scope, name: str, call: EventCall) -> pd.DataFrame:
    """`call(ctx.eastmoney)(since, until, codes)` over the scope, shared by the tables of one run. Rows of
    days between that are not asked for are left out."""
    found = []
    few = scope.named_groups(_FEW_CODES)
    by_code = 0 < len(few) <= max(1, len(scope.dates) // _MOST_DATES)
    step = len(scope.dates) if by_code else _MOST_DATES
    for at in range(0, len(scope.dates), step):
        some = scope.dates[at : at + step]
        for codes in few if by_code else scope.code_groups():
            found.append(_asked(ctx, name, call, some[0], some[-1], codes))
    rows = pd.concat(found, ignore_index=True) if len(found) > 1 else found[0].copy()
    return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)


def _asked(
    ctx: FetchContext, name: str, call: EventCall, since: str, until: str, codes: tuple[str, ...] | None
) -> pd.DataFrame:
    return ctx.once((name, since, until, codes), lambda view: call(view.eastmoney)(since, until, codes))


def trade_dates_only(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The date is a trade date."""
    return rows["date"].map(context.calendar.is_trade_date).astype(bool)


CLOSE_TIME = "15:00"


def add_changes_after(rows: pd.DataFrame, context: Context, steps: Mapping[str, int]) -> pd.DataFrame:
    """Each column of `steps`: percent from the close of a row's date to that of so many trade dates later,
    ex-rights taken out. A value of a source is kept; without one it is computed from the bars. What lies
    after the time of the run is null, also where a source has a value."""
    ends = {
        (str(day), count): closed_after(context, str(day), count)
        for day in rows["date"].unique()
        for count in set(steps.values())
    }
    closes = _closes(rows, context, [day for day in ends.values() if day])
    for column, count in steps.items():
        end = rows["date"].map({day: last for (day, asked), last in ends.items() if asked == count})
        first = _at(closes, rows["code"], rows["date"])
        last = _at(closes, rows["code"], end)
        reported = rows[column].astype(float) if column in rows else pd.Series(float("nan"), index=rows.index)
        rows[column] = reported.fillna((last / first - 1) * 100).where(end.notna())
    return rows


def closed_after(context: Context, day: str, count: int) -> str | None:
    """The trade date `count` after `day`, when its session has closed at the run. None while a day up to it
    is provisional: the count would be wrong when it turns out otherwise."""
    if not context.calendar.is_trade_date(day):
        return None
    coming = context.calendar.between(day, min(context.today, context.calendar.confirmed_until))
    if len(coming) <= count or context.now[:16] < f"{coming[count]} {CLOSE_TIME}":
        return None
    return coming[count]


def _closes(rows: pd.DataFrame, context: Context, ends: list[str]) -> pd.Series:
    """Closes by code and date in prices of one scale."""
    columns = ("code", "date", "close", "adj_factor")
    codes = sorted(set(rows["code"]))
    if not ends:
        return pd.Series(dtype=float, index=pd.MultiIndex.from_arrays([[], []], names=["code", "date"]))
    bars = context.read(
        "fusion_kline_daily", columns=columns, codes=codes, since=min(rows["date"]), until=max(ends)
    )
    return (bars["close"] * bars["adj_factor"]).set_axis(pd.MultiIndex.from_frame(bars[["code", "date"]]))


def _at(closes: pd.Series, codes: pd.Series, dates: pd.Series) -> pd.Series:
    requested = pd.MultiIndex.from_arrays([codes, dates])
    return pd.Series(closes.reindex(requested).to_numpy(dtype=float), index=codes.index)


_SAME = 0.95
"""Share of prices that must be those of the stored bars: a single bar may have been corrected since."""
_HALF_FEN = 0.005


def of_session(
    ctx: FetchContext, listed: pd.DataFrame, day: str, what: str, *, dated: bool = True
) -> pd.DataFrame:
    """`listed` (`code`, `price` CNY, `volume`), whose prices are the stored closes of `day`.

    PayloadError where they are another day's, another security's or in another unit. While the bars of the
    day are not stored, a list that states its date (`dated`) is accepted without this check, another one is
    refused.
    """
    closes = ctx.read("fusion_kline_daily", columns=("code", "close"), since=day, until=day)
    both = listed[listed["volume"] > 0].merge(closes.dropna(subset=["close"]), on="code")
    same = (both["price"] - both["close"].astype(float)).abs() < _HALF_FEN
    if (same.mean() < _SAME) if len(both) else not dated:
        raise PayloadError(f"{what}: {int(same.sum())} of {len(both)} prices are those of {day}")
    return listed


def close_is_that_of_the_bar(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The row's `close` (CNY) is that of the stored bar; true where either is not known."""
    bar = context.stored_column(rows, "fusion_kline_daily", "close").astype(float)
    return ~((rows["close"].astype(float) - bar).abs() > 2 * _HALF_FEN)
