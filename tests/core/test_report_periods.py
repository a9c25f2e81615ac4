"""Report periods: which are being disclosed, and what a quarter is worth alone."""

import pytest

from core.report_periods import (
    latest_ended,
    open_on_any,
    open_report_periods,
    periods_due,
    previous_period,
    report_type,
)
from platform_assets.compute.quarters import on_quarter_before, on_year_before, single_quarter


@pytest.mark.parametrize(
    ("day", "periods"),
    [
        ("2026-01-01", ("2025-12-31",)),
        ("2026-03-31", ("2025-12-31",)),  # on its own last day no figure of a quarter can be out
        ("2026-04-01", ("2025-12-31", "2026-03-31")),
        ("2026-05-30", ("2025-12-31", "2026-03-31")),
        ("2026-05-31", ("2026-03-31",)),
        ("2026-07-01", ("2026-06-30",)),
        ("2026-09-30", ("2026-06-30",)),
        ("2026-10-01", ("2026-09-30",)),
        ("2026-12-31", ("2026-09-30",)),
    ],
)
def test_windows_of_disclosure(day: str, periods: tuple[str, ...]) -> None:
    assert open_report_periods(day) == periods
    assert latest_ended(day) == periods[-1]


@pytest.mark.parametrize(
    ("day", "periods"),
    [
        ("2026-04-15", ("2025-12-31", "2026-03-31")),
        ("2026-05-07", ("2025-12-31", "2026-03-31")),
        ("2026-05-08", ()),
        ("2026-06-30", ()),
        ("2026-08-21", ("2026-06-30",)),
    ],
)
def test_reports_are_due_until_a_week_after_their_deadline(day: str, periods: tuple[str, ...]) -> None:
    assert periods_due(day, grace=7) == periods


def test_a_range_concerns_every_period_that_was_open() -> None:
    assert open_on_any(["2026-03-02", "2026-04-10", "2026-08-21"]) == (
        "2025-12-31",
        "2026-03-31",
        "2026-06-30",
    )
    assert [report_type(p) for p in ("2026-03-31", "2026-06-30", "2026-09-30", "2026-12-31")] == [
        "Q1",
        "H1",
        "Q3",
        "FY",
    ]
    assert previous_period("2026-03-31") == "2025-12-31"


def test_single_quarters_of_cumulative_figures() -> None:
    reported = {
        "2025-03-31": 8.0,
        "2025-12-31": 100.0,
        "2025-09-30": 60.0,
        "2026-03-31": 10.0,
        "2026-06-30": 40.0,
    }

    assert single_quarter(reported.get, "2026-03-31") == 10.0
    assert single_quarter(reported.get, "2026-06-30") == 30.0
    assert single_quarter(reported.get, "2025-09-30") is None  # the half year is not known
    assert on_quarter_before(reported.get, "2026-06-30") == 200.0
    assert on_quarter_before(reported.get, "2026-03-31") == -75.0  # on 40 of the fourth quarter
    assert on_year_before(reported.get, "2026-03-31") == 25.0
    losses = {"2026-03-31": -10.0, "2026-06-30": -12.0}
    assert on_quarter_before(losses.get, "2026-06-30") == 80.0  # a smaller loss is growth
    assert on_quarter_before({"2026-03-31": 0.0, "2026-06-30": 5.0}.get, "2026-06-30") is None
