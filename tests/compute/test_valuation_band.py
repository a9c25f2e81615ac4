"""Bands of ratios by hand: weeks, percentiles, losses, short histories."""

import numpy as np

from core.calendar import shipped_calendar
from platform_assets.compute.percentiles import band, percentiles
from platform_assets.datasets.valuation_band import week_ends

N = np.nan


def test_percentiles_count_positive_weeks_alone() -> None:
    ratios = np.array(
        [
            [10.0, 20.0, 30.0, 20.0],  # three of four are not above 20
            [-5.0, 40.0, 30.0, 35.0],  # a loss counts nowhere: two of three
            [10.0, 20.0, 30.0, -1.0],  # a loss now says nothing
            [N, N, N, 20.0],  # too few
            [N, N, 30.0, 20.0],  # half of the window is enough
        ]
    )
    np.testing.assert_allclose(percentiles(ratios, 4), [75, 200 / 3, N, N, 50])
    # The window is the newest weeks.
    np.testing.assert_allclose(percentiles(ratios, 2), [50, 100, N, 100, 50])


def test_the_band_lies_between_its_percentiles() -> None:
    low, high = band(np.array([np.arange(1.0, 12.0), np.full(11, N)]), 11)
    np.testing.assert_allclose(low, [2, N])
    np.testing.assert_allclose(high, [10, N])


def test_a_week_ends_on_its_last_trade_date() -> None:
    calendar = shipped_calendar()
    # 2025-10-01 to 08 are holidays: the Tuesday before ends its week.
    assert week_ends(calendar, "2025-09-24", "2025-10-10") == ["2025-09-26", "2025-09-30", "2025-10-10"]
    assert week_ends(calendar, "2026-08-17", "2026-08-20") == []
    assert week_ends(calendar, "2026-08-17", "2026-08-21") == ["2026-08-21"]
    assert week_ends(calendar, "2026-08-22", "2026-08-23") == []
