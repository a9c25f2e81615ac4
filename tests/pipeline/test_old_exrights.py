"""Factors of events that are older than the newest page of bars."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.declaration.scope import Scope
from core.errors import Unavailable
from platform_assets.datasets.exright import terminal_events

TODAY = "2026-07-10"
SESSIONS = shipped_calendar().between("2016-08-01", TODAY)
EVENTS = ("2014-06-20", "2018-06-21", "2025-06-20")


class FetchContext:
    """A fetch context of one stock at 10 CNY that paid 1 CNY a share on three days."""

    calendar = shipped_calendar()
    direct = False

    def __init__(self, stored: pd.DataFrame | None = None) -> None:
        self.stored = stored
        self.asked: list[int] = []
        self.tdx = self

    def symbols(self, codes: Sequence[str] | None = None) -> list[str]:
        return ["sh600001"] * 40 if codes is None else ["sh600001"]

    def is_current_session(self, day: str) -> bool:
        return False

    def each(self, ask: Any, symbols: Sequence[str]) -> list[pd.DataFrame]:
        return [ask(symbol) for symbol in symbols]

    def read(self, table: str, **_: Any) -> pd.DataFrame:
        if self.stored is None:
            raise Unavailable("nothing is stored")
        return self.stored

    def xdxr(self, symbol: str) -> pd.DataFrame:
        values: Mapping[str, Any] = {"cash_per10": 10.0, "f1": 10.0, "f2": 0.0, "f3": 0.0, "f4": 0.0}
        return pd.DataFrame(
            [{"code": "600001", "date": day, "category": 1, "name": "除权除息", **values} for day in EVENTS]
        )

    def terminal_bars(self, symbol: str, count: int) -> pd.DataFrame:
        pages = -(-count // 800)
        self.asked.append(pages)
        days = SESSIONS[-800 * pages :]
        return pd.DataFrame({"date": days, "close": 10.0})


def reported(ctx: FetchContext) -> pd.DataFrame:
    return terminal_events(ctx, Scope(dates=(TODAY,), codes=("600001",)))


def factors(events: pd.DataFrame) -> list[float]:
    return [float(value) for value in events["factor"]]


def test_an_event_that_is_new_is_followed_as_far_back_as_bars_are_loaded() -> None:
    ctx = FetchContext()

    made = factors(reported(ctx))

    assert made[1:] == pytest.approx([10 / 9, 10 / 9])
    assert np.isnan(made[0])  # years before the first date that is ever loaded
    assert ctx.asked == [1, 3]


def test_a_stored_factor_outlives_the_newest_page() -> None:
    """It used to become null with the 801st session after it, and the stored bars still counted it."""
    stored = reported(FetchContext())
    ctx = FetchContext(stored)

    assert factors(reported(ctx))[1:] == pytest.approx([10 / 9, 10 / 9])
    assert ctx.asked == [1]


def test_an_event_that_was_stored_without_a_factor_stays_so() -> None:
    """The cumulative factors of its bars were made without it."""
    stored = reported(FetchContext()).assign(factor=[np.nan, np.nan, 10 / 9])
    ctx = FetchContext(stored)

    assert np.isnan(factors(reported(ctx))[1])
    assert ctx.asked == [1]
