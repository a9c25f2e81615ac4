"""The window of bars that the daily calculations of the whole market share."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.arrays import Floats, Ints
from core.declaration.columns import Model, model_columns
from core.declaration.conditions import equal
from core.declaration.rules import Needed
from core.declaration.scope import Scope
from core.market.bars import Bars
from platform_assets.compute.date_ranges import Stretch, stretches
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.compute.parameters.scorecards import BENCHMARK
from platform_assets.compute.signals import COLUMNS, Pair, is_first, paired
from resources.upstreams.fetch_context import FetchContext

BARS = "fusion_kline_daily"
INDEX = "fusion_index_daily"
WINDOW_DATES = 400
"""Trade dates that a date is calculated from, its own included. Fixed, so that a date comes out the same
alone and within a range."""
LEAST_BARS = WARM_UP_BARS + 1
"""Bars that a code is calculated from, where it has so many: after a long suspension some of them are older
than the window."""
WHOLE_WINDOW = Needed(BARS, dates=LEAST_BARS)
"""A missing date inside marks the rows: their bars are no neighbours."""
_STOCKS = (equal("sec_type", "stock"), equal("is_suspended", 0))
_COLUMNS = (
    "open", "high", "low", "close", "volume", "amount", "turnover_pct", "adj_factor", "last_close",
    "limit_up", "limit_down",
)  # fmt: skip


def columns_without(model: type[Model], *traded: str) -> tuple[str, ...]:
    """The columns of a model besides its key and those of traded prices and volumes."""
    return tuple(spec.name for spec in model_columns(model) if not (spec.of_key or spec.name in traded))


def number(day: str) -> int:
    """2026-08-21 -> 20260821."""
    return int(day.replace("-", ""))


def bars_at(ctx: FetchContext, scope: Scope, day: str) -> Bars:
    """The window of `day` of the stocks that traded on it, of the scope's codes where it names some: their
    bars of 400 trade dates, or older ones as well where these are fewer than 321. Read once for all tables
    and dates of a run."""
    return _window(_bars(ctx, scope), ctx, day)


def stretches_of(ctx: FetchContext, scope: Scope) -> Iterator[Stretch]:
    """The dates of a scope with the windows that `bars_at` gives, as many dates at once as begin with the
    same bars."""
    since = [number(ctx.calendar.offset(day, 1 - WINDOW_DATES)) for day in scope.dates]
    return stretches(_bars(ctx, scope), [number(day) for day in scope.dates], LEAST_BARS, since)


def newest_stretches(ctx: FetchContext, scope: Scope) -> Iterator[Stretch]:
    """The dates of a scope for what looks at a code's newest 321 bars and no further."""
    return stretches(_bars(ctx, scope), [number(day) for day in scope.dates], LEAST_BARS)


def _bars(ctx: FetchContext, scope: Scope) -> Bars:
    """The bars of all windows of a scope."""
    since, until = ctx.calendar.offset(scope.since, 1 - WINDOW_DATES), scope.until

    def make(view: FetchContext) -> Bars:
        dense = view.panel(
            BARS, columns=_COLUMNS, since=since, until=until, conditions=_STOCKS, noted=scope.dates
        )
        bars = Bars.from_dense(dense)
        bars = bars if scope.codes is None else bars.take(scope.codes)
        return _filled_up(view, bars, since, number(scope.since))

    return ctx.once(("window of bars", since, until, scope.codes), make)


def _filled_up(view: FetchContext, bars: Bars, since: str, first: int) -> Bars:
    """With the bars before `since` that codes which traded little since then need for the date `first`: the
    later dates of a run need no more."""
    recent = bars.date <= first
    counts = np.bincount(bars.owner[recent], minlength=len(bars.codes))
    lacking = {
        code: LEAST_BARS - count
        for code, count, newest in zip(
            bars.codes, counts.tolist(), bars.date[bars.last_rows].tolist(), strict=True
        )
        if count < LEAST_BARS and newest >= first
    }
    if not lacking:
        return bars
    before = view.calendar.offset(since, -1)
    rows = view.read(
        BARS, columns=("code", "date", *_COLUMNS, "is_suspended"), codes=tuple(lacking), until=before
    )
    older = Bars.from_frame(rows)
    requested = np.array([lacking[code] for code in older.codes], dtype=np.int64)
    return bars.preceded(older.where(older.from_end <= requested[older.owner]))


def _window(bars: Bars, ctx: FetchContext, day: str) -> Bars:
    """The bars of a run that its date `day` needs."""
    until = number(day)
    window = bars if not len(bars) or bars.date.max() <= until else bars.until(until)
    since = number(ctx.calendar.offset(day, 1 - WINDOW_DATES))
    if len(window) and window.date.min() < since:
        near = (window.date >= since) | (window.from_end <= LEAST_BARS)
        window = window if near.all() else window.where(near)
    there = window.date[window.last_rows] == until if window.codes else np.zeros(0, dtype=bool)
    return window if there.all() else window.where(there[window.owner])


def index_closes(ctx: FetchContext, scope: Scope) -> tuple[Ints, Floats]:
    """(yyyymmdd, closes) of the CSI 300 up to the newest of a scope's dates, oldest first: the bars of a code
    that rested long may be of any age."""

    def make(view: FetchContext) -> pd.DataFrame:
        rows = view.read(INDEX, columns=("date", "close"), codes=(BENCHMARK,), until=scope.until)
        return pd.DataFrame(rows).dropna().sort_values("date")

    rows = ctx.once(("benchmark", scope.until), make)
    days = rows["date"].astype(str).str.replace("-", "", regex=False).to_numpy(dtype=np.int64)
    return days, rows["close"].to_numpy(dtype=np.float64)


def rows_of(stretch: Stretch, values: Mapping[str, Any]) -> pd.DataFrame:
    """code, date and close of each row of a stretch with the columns calculated for it."""
    return pd.DataFrame(
        {"code": stretch.codes, "date": stretch.dates, **values, "close": stretch.close},
        columns=["code", "date", *values, "close"],
    )


def indicators_of(ctx: FetchContext, scope: Scope, stretch: Stretch) -> dict[str, Floats]:
    """The indicators of each row of a stretch. What signals look at is kept for them."""
    reported = _calculated(stretch, index_closes(ctx, scope))
    ctx.once(_signals_key(scope, stretch), lambda _: {name: reported[name] for name in COLUMNS})
    return {name: pair.now for name, pair in reported.items()}


def signal_values(ctx: FetchContext, scope: Scope, stretch: Stretch) -> dict[str, Pair]:
    """The indicators that signals look at, on each row and on the bar before it. Of the calculation of the
    indicators where it was in this run."""
    index = index_closes(ctx, scope)

    def make(_: FetchContext) -> dict[str, Pair]:
        reported = _calculated(stretch, index)
        return {name: reported[name] for name in COLUMNS}

    return ctx.once(_signals_key(scope, stretch), make)


def _calculated(stretch: Stretch, index: tuple[Ints, Floats]) -> dict[str, Pair]:
    from platform_assets.compute.indicators import indicator_columns  # noqa: PLC0415  loads numba

    count = stretch.newest + 1
    values = indicator_columns(stretch.bars, index=index, newest=count)
    return paired(stretch.places(count), is_first(stretch.bars, stretch.rows), values)


def _signals_key(scope: Scope, stretch: Stretch) -> tuple[object, ...]:
    return ("indicators of signals", stretch.days, scope.codes)
