"""On how many dates a code was on the billboard: a count of dates that are not loaded is none."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from core.calendar import shipped_calendar
from platform_assets.datasets._wide_events import billboard

TODAY = "2026-08-21"
CALENDAR = shipped_calendar()
CODES = pd.Series([f"60000{at}" for at in range(8)])


def counted(listings: list[tuple[str, str]]) -> dict[str, Any]:
    def read(_table: str, *, columns: tuple[str, ...], since: str, until: str) -> pd.DataFrame:
        rows = pd.DataFrame(listings, columns=["date", "code"])
        return rows[rows["date"].between(since, until)][list(columns)]

    reported = billboard(SimpleNamespace(calendar=CALENDAR, read=read), TODAY, CODES)
    return dict(zip(reported["code"], reported["lhb_count_30d"], strict=True))


def market(dates: int) -> list[tuple[str, str]]:
    """Four listings on each of the newest dates before today."""
    return [(day, code) for day in CALENDAR.last(dates + 1, TODAY)[:-1] for code in CODES[:4]]


def test_thirty_loaded_dates_are_counted() -> None:
    found = counted(market(35))

    assert (found["600000"], found["600007"]) == (30, 0)


def test_the_history_of_one_code_makes_no_date_of_the_market() -> None:
    """A download of a code brings its listings of a year to fifteen loaded dates."""
    alone = [(day, "600007") for day in CALENDAR.last(50, TODAY)[:-1]]

    assert {value for value in counted([*alone, *market(15)]).values() if pd.notna(value)} == set()
    assert counted([*alone, *market(35)])["600007"] == 30
