"""Calendar days as text."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from platform_assets.compute.days import monday_of, moved


@pytest.mark.parametrize(
    ("day", "days", "expected"),
    [("2026-02-28", 1, "2026-03-01"), ("2024-02-28", 1, "2024-02-29"), ("2026-01-01", -1, "2025-12-31")],
)
def test_days_move_over_ends_of_months(day: str, days: int, expected: str) -> None:
    assert moved(day, days) == expected
    assert moved(expected, -days) == day


@given(st.dates(date(1990, 1, 8), date(2100, 1, 1)))
def test_monday_is_the_first_day_of_the_same_week(day: date) -> None:
    monday = date.fromisoformat(monday_of(day.isoformat()))
    assert monday.weekday() == 0
    assert 0 <= (day - monday).days < 7
