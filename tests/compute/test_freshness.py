"""The three cutoff rules, on the real trade calendar."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calendar import CalendarHorizon, shipped_calendar
from core.declaration.rules import Freshness, calendar_days, period, trading
from core.errors import DeclarationError
from core.report_periods import latest_ended
from platform_assets.compute.freshness import cutoff, is_stale

CALENDAR = shipped_calendar()


@pytest.mark.parametrize(
    ("today", "max_lag", "expected"),
    [
        ("2026-08-21", 1, "2026-08-20"),
        ("2026-08-21", 7, "2026-08-12"),
        ("2026-08-22", 1, "2026-08-20"),  # a Saturday counts from Friday
        ("2026-08-24", 1, "2026-08-21"),
        ("2024-02-18", 1, "2024-02-07"),  # the last day of the Spring Festival holiday
        ("2024-02-19", 1, "2024-02-08"),  # the first day after it
        ("2025-10-08", 2, "2025-09-26"),  # the last day of the National Day holiday
        ("2025-10-09", 1, "2025-09-30"),
        ("2024-02-04", 1, "2024-02-01"),  # a working Sunday is no trade date
    ],
)
def test_trading_counts_trade_dates(today: str, max_lag: int, expected: str) -> None:
    assert cutoff(trading(max_lag), today, CALENDAR) == expected


@pytest.mark.parametrize(
    ("today", "max_lag", "expected"),
    [
        ("2026-08-21", 3, "2026-08-18"),
        ("2026-03-01", 1, "2026-02-28"),
        ("2024-03-01", 1, "2024-02-29"),
        ("2026-01-05", 30, "2025-12-06"),
    ],
)
def test_calendar_counts_days(today: str, max_lag: int, expected: str) -> None:
    assert cutoff(calendar_days(max_lag), today, CALENDAR) == expected


@pytest.mark.parametrize(
    ("today", "max_lag", "expected"),
    [
        ("2026-04-10", 90, "2025-12-31"),
        ("2026-03-20", 90, "2025-09-30"),
        ("2026-03-31", 90, "2025-12-31"),  # exactly 90 days after the end of the year
        ("2026-03-30", 90, "2025-09-30"),
        ("2026-06-29", 90, "2026-03-31"),
        ("2026-06-28", 90, "2025-12-31"),
        ("2026-08-21", 120, "2026-03-31"),
        ("2024-01-01", 0, "2023-12-31"),
    ],
)
def test_period_waits_for_the_reports_of_a_quarter(today: str, max_lag: int, expected: str) -> None:
    assert cutoff(period(max_lag), today, CALENDAR) == expected


@given(st.dates(date(1992, 1, 1), date(2026, 12, 30)), st.integers(0, 400))
def test_the_period_is_the_newest_that_had_its_time(today: date, max_lag: int) -> None:
    end = date.fromisoformat(cutoff(period(max_lag), today.isoformat(), CALENDAR))

    following = date.fromisoformat(latest_ended((end + timedelta(days=93)).isoformat()))
    assert end + timedelta(days=max_lag) <= today < following + timedelta(days=max_lag)
    assert (end + timedelta(days=1)).day == 1
    assert (following.year - end.year) * 12 + following.month - end.month == 3


def test_beyond_the_calendar_nothing_is_guessed() -> None:
    with pytest.raises(CalendarHorizon):
        cutoff(trading(1), "2100-01-04", CALENDAR)


def test_an_unknown_kind_is_a_declaration_error() -> None:
    with pytest.raises(DeclarationError, match="weekly"):
        cutoff(Freshness("weekly", 1, "date"), "2026-08-21", CALENDAR)


@pytest.mark.parametrize(
    ("latest", "stale"), [(None, True), ("2026-08-19", True), ("2026-08-20", False), ("2026-08-21", False)]
)
def test_the_cutoff_itself_is_fresh(latest: str | None, stale: bool) -> None:
    assert is_stale(latest, "2026-08-20") is stale
