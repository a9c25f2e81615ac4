"""Shared by the tables of picks: their columns, and how a load makes the picks of its dates, keeps those
that are settled and reviews those that are due."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandera.api.checks import Check

from core.declaration import columns as t
from core.declaration.columns import EVENING, ColumnSpec, Model, col, derived_model, key, model_columns
from core.declaration.conditions import equal
from core.declaration.dataset import Dataset
from core.declaration.interfaces import Interface
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.compute.nan_arithmetic import floats
from platform_assets.compute.parameters.scorecards import BENCHMARK, REVISITED_DAYS, WAIT_DAYS
from platform_assets.compute.scorecards import forward
from platform_assets.compute.scorecards.prices import COLUMNS as PRICE_COLUMNS
from platform_assets.compute.scorecards.prices import Benchmark, Prices
from platform_assets.datasets._dated import SPELLING
from resources.upstreams.fetch_context import FetchContext

BARS = "fusion_kline_daily"
INDEX = "fusion_index_daily"
WIDE = "fusion_stock_wide"
_SAME_RETURN = 0.01
"""Percentage points."""
_TRADED = (equal("sec_type", "stock"), equal("is_suspended", 0))

Make = Callable[[FetchContext, Scope, str], pd.DataFrame | None]
"""(fetch context, scope of the load, trade date) -> the picks of the date; None: their inputs are not
stored."""

_SCORES = "leader scores vary with the pools that can still be had"


class Pick(Model):
    """A code that was picked on a trade date, and what became of it."""

    trade_date: t.Date = key("trade date of the pick")
    code: t.Code = key("security code")
    rank_no: t.Int = col("", "rank within its group, from 1", nullable=False, ge=1, varies=EVENING)
    name: t.S64 = col(title="name on the date", varies=SPELLING)
    industry: t.S64 = col(title="industry")
    score: t.F = col("", "what the group is ranked by", decimals=4, varies=_SCORES)
    price_at_pick: t.Px = col("CNY", "close of the date, unadjusted", gt=0)
    reason: t.S255 = col(title="why it was picked", varies=_SCORES)
    detail: t.Json = col(title="the figures behind the score", varies=_SCORES)
    status: t.S16 = col(title="pending, partial or reviewed", nullable=False, isin=list(forward.STATES))
    buy_date: t.Date = col(title="first trade date of the holding")
    buy_price: t.Px = col("CNY", "open of that date, or its close without one, unadjusted", gt=0)
    sell_date: t.Date = col(title="last trade date of the holding")
    sell_price: t.Px = col("CNY", "close of that date, unadjusted", gt=0)
    hold_days: t.Int = col("", "market dates of the holding, both ends included", ge=1)
    profit_pct: t.Pct = col("pct", "return of the holding, ex-rights taken out")
    index_profit_pct: t.Pct = col("pct", "return of the CSI 300 over the same dates")
    excess_pct: t.Pct = col("pct", "profit_pct - index_profit_pct")
    max_gain_pct: t.Pct = col("pct", "highest price of the holding against the purchase")
    max_drawdown_pct: t.Pct = col("pct", "deepest fall from the highest price before", le=0)
    reviewed_at: t.Dt = col(title="when it was settled", varies="the moment of that load")
    unfillable: t.Bool = col(title="the purchase would have been at the limit-up price")


def pick_model(name: str, group: str, title: str, keys: Sequence[str]) -> type[Model]:
    """The columns of a table of picks whose groups `group` names."""
    day, *rest = model_columns(Pick)
    named = ColumnSpec(
        group, t.S32, title=title, nullable=False, checks=(Check.isin(list(keys)),), of_key=True
    )
    return derived_model(name, Pick, (day, named, *rest))


def pick_dataset(
    *, name: str, title: str, model: type[Model], group: str, make: Make, reads: Sequence[str],
    task: str, interfaces: tuple[Interface, ...],
) -> Dataset:  # fmt: skip
    """The declaration of a table of picks."""

    def picks(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
        return track(ctx, scope, name, group, make)

    return Dataset(
        name=name,
        subject="scores",
        title=title,
        model=model,
        adjusted=True,
        calculate=picks,
        reads=(*reads, WIDE, BARS, INDEX),
        reads_own_past=True,
        revisits=REVISITED_DAYS,
        of_stocks=False,
        freshness=trading(1, "trade_date"),
        indexes=(("code", "trade_date"),),
        tasks=(task,),
        interfaces=interfaces,
    )


def track(ctx: FetchContext, scope: Scope, table: str, group: str, make: Make) -> pd.DataFrame:
    """The picks of a scope's dates: those of the requested dates, made again but for settled ones, and those
    of the dates before them, all reviewed with the bars that are stored."""
    names = ["trade_date", group, *(spec.name for spec in model_columns(Pick) if spec.name != "trade_date")]
    stored = ctx.read(table, columns=tuple(names), **scope.span)
    earlier = stored[stored["trade_date"].isin(scope.dates[: scope.late])]
    frames = [earlier]
    for day in scope.asked:
        own = stored[stored["trade_date"] == day]
        found = make(ctx, scope, day)
        if found is None:
            frames.append(own)  # nothing to make it from: what is there stays
            continue
        new = found.assign(trade_date=day, status=forward.PENDING).reindex(columns=names)
        frames.append(forward.rebuilt(new, own, group))
    rows = pd.concat([frame.astype(object) for frame in frames], ignore_index=True)
    return reviewed(ctx, rows.reindex(columns=names))


def reviewed(ctx: FetchContext, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows (trade_date, code, status, and the columns of an outcome) with those settled that are due.
    What was settled keeps its outcome unless the bars of its holding give another return by now, because they
    were repaired."""
    due = rows[rows["trade_date"] <= _settled_until(ctx)]
    if due.empty:
        return rows
    prices, benchmark = prices_of(ctx, str(due["trade_date"].min()), str(due["trade_date"].max()))
    due = due[due["trade_date"].isin(prices.day_at)]
    found = forward.outcomes_of(prices, benchmark, hits_of(due))
    columns = _columns(found, np.array(prices.dates, dtype=object))
    settled = found.status != forward.PENDING
    before = forward.is_settled(due).to_numpy(dtype=bool)
    # Beyond the decimals that storing leaves: a repaired factor moves the return of its holding.
    other = np.abs(found.profit_pct - floats(due["profit_pct"])) > _SAME_RETURN
    changed = settled & (~before | other)
    at = due.index[changed]
    for name, values in columns.items():
        rows[name] = rows[name].astype(object)
        rows.loc[at, name] = values[changed]
    rows.loc[at, "reviewed_at"] = ctx.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    return rows


def _settled_until(ctx: FetchContext) -> str:
    """The last day up to which trade dates are counted for an outcome: one that the exchange has published,
    since a provisional day may turn out otherwise."""
    return min(ctx.today, ctx.calendar.confirmed_until)


def prices_of(ctx: FetchContext, first: str, last: str) -> tuple[Prices, Benchmark]:
    """Bars and the benchmark from the first to the last date of picks, and on until the last of them is
    settled or today."""
    coming = ctx.calendar.between(last, _settled_until(ctx))[: WAIT_DAYS + 1]
    until = coming[-1] if coming else last

    def make(view: FetchContext) -> tuple[Prices, Benchmark]:
        dense = view.panel(BARS, columns=PRICE_COLUMNS, since=first, until=until, conditions=_TRADED)
        dates = view.calendar.between(first, until)
        bars = view.read(
            INDEX, columns=("date", "open", "close"), codes=(BENCHMARK,), since=first, until=until
        )
        reported = {str(row.date): (row.open, row.close) for row in bars.itertuples(index=False)}
        return Prices.from_dense(dense, dates), Benchmark.of(reported, dates)

    return ctx.once(("prices of picks", first, until), make)


def hits_of(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """(trade date, code) of picks."""
    return list(zip(rows["trade_date"].astype(str), rows["code"].astype(str), strict=True))


def _columns(found: forward.Outcomes, dates: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Stored columns of outcomes, None where nothing is known."""

    def plain(values: npt.NDArray[Any], known: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        reported = values.astype(object)
        reported[~known] = None
        return reported

    numbers = (
        "buy_price", "sell_price", "profit_pct", "index_profit_pct", "excess_pct", "max_gain_pct",
        "max_drawdown_pct",
    )  # fmt: skip
    bought = found.buy_at >= 0
    days = {
        "buy_date": plain(dates[np.maximum(found.buy_at, 0)], bought),
        "sell_date": plain(dates[np.maximum(found.sell_at, 0)], bought),
        "hold_days": plain(found.hold_days, bought),
        "unfillable": plain(found.unfillable, bought),
    }
    reported = {name: plain(getattr(found, name), np.isfinite(getattr(found, name))) for name in numbers}
    return {"status": found.status.astype(object), **days, **reported}
