"""Reads the days of a stock and runs a backtest over them. Everything here runs off the event loop."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.calendar import TradeCalendar
from core.market.securities import board_of
from platform_assets.compute.backtests.atr_stop import TrailingStop
from platform_assets.compute.backtests.days import Days, entitlements
from platform_assets.compute.backtests.engine import Run, run_rule
from platform_assets.compute.backtests.strategies import Strategy
from platform_assets.compute.backtests.validation import Strategic
from platform_assets.compute.nan_arithmetic import filled_factor
from platform_assets.compute.parameters.backtests import ATR_PERIOD, Style
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from serving_api.db.sessions import Session
from serving_api.market.backtests import queries
from serving_api.market.backtests.messages import empty_answer, run_answer, validation_answer

NO_BARS = "no bars of this code are stored"
NO_SHARE = "not an A share of the mainland exchanges: its trading rules are not implemented"


@dataclass(frozen=True)
class Stock:
    """`start` is the first day of the window; earlier days are only the warm-up of averages."""

    code: str
    name: str | None
    board: str
    days: Days
    start: int
    unknown_limits: int


def read_stock(
    session: Session, code: str, lookback: int, calendar: TradeCalendar
) -> Stock | tuple[str | None, str]:
    """The newest `lookback` trade dates of a code up to its newest row, or (name, why there are none)."""
    rows = queries.bars(session, code, lookback + WARM_UP_BARS)
    name = session.first(queries.MASTER, "name", queries.MASTER.c.code == code)
    if not rows:
        return name, NO_BARS
    board = board_of(code, rows[-1].market or "")
    if not board:
        return name, NO_SHARE
    dates = sorted({*calendar.between(rows[0].date, rows[-1].date), *(row.date for row in rows)})
    days = _days(rows, dates, queries.events(session, code, rows[0].date))
    window = calendar.last(lookback, rows[-1].date)
    start = bisect_left(dates, window[0]) if window else 0
    unknown = sum(1 for row in rows if row.date >= dates[start] and _traded(row) and row.limit_status is None)
    return Stock(code, name, board, days, start, unknown)


def _traded(row: queries.Row) -> bool:
    return not row.is_suspended and row.open is not None and row.close is not None


def _days(rows: list[queries.Row], dates: list[str], events: list[Any]) -> Days:
    place = {day: at for at, day in enumerate(dates)}
    traded_rows = [row for row in rows if _traded(row)]
    at = np.array([place[row.date] for row in traded_rows], dtype=np.int64)

    def column(name: str) -> Any:
        values = np.full(len(dates), np.nan)
        values[at] = [np.nan if (one := getattr(row, name)) is None else one for row in traded_rows]
        return values

    opened, closed = column("open"), column("close")
    factor = filled_factor(column("adj_factor"))
    cash, bonus = entitlements(
        dates, np.isfinite(opened) & np.isfinite(closed), factor, column("last_close"), events
    )
    return Days(
        date=tuple(dates), open=opened, high=column("high"), low=column("low"), close=closed,
        volume=column("volume"), factor=factor, limit_up=column("limit_up"), limit_down=column("limit_down"),
        cash=cash, bonus=bonus,
    )  # fmt: skip


Rule = tuple[dict[str, Any], Callable[[Stock, int], tuple[Run, dict[str, Any]]]]
"""(what the response says about the rule; a stock and a capital in fen -> the run, more of the response)."""


def strategy_rule(strategy: Strategy, periods: tuple[int, ...], validate: bool) -> Rule:
    def run(stock: Stock, fen: int) -> tuple[Run, dict[str, Any]]:
        work = Strategic(stock.days, strategy, stock.board, fen, stock.start)
        more = {}
        if validate:
            more["validation"] = validation_answer(work.validated(periods), stock.days, strategy)
        return work.runner(periods)(stock.start, len(stock.days)), more

    return {"strategy": strategy.key, "params": strategy.params(periods)}, run


def stop_rule(style: Style) -> Rule:
    def run(stock: Stock, fen: int) -> tuple[Run, dict[str, Any]]:
        rule = TrailingStop(stock.days, style)
        return run_rule(stock.days, rule, board=stock.board, capital=fen, start=stock.start), {}

    return {"profile": style.key, "atr_period": ATR_PERIOD, "atr_multiple": style.atr_multiple}, run


def backtest(
    session: Session, code: str, rule: Rule, capital: float, lookback: int, calendar: TradeCalendar
) -> dict[str, Any]:
    """The response for a code."""
    chosen, run = rule
    stock = read_stock(session, code, lookback, calendar)
    if isinstance(stock, tuple):
        name, why = stock
        return {**empty_answer(code, name, capital, why), **chosen}
    done, more = run(stock, max(round(capital * 100), 1))
    reported = run_answer(done, stock.days, unknown_limits=stock.unknown_limits, lookback=lookback)
    return {"code": code, "name": stock.name, **chosen, **reported, **more}
