"""The equity risk premium, and whether a value is near its past."""

import numpy as np
import pytest

from platform_assets.compute.risk_premium import position_of_newest, premiums
from platform_assets.compute.series_checks import months_between, near_its_past


def test_a_premium_takes_the_newest_yield_that_was_known() -> None:
    pe = [("2026-01-05", 12.5), ("2026-01-06", 10.0), ("2026-01-30", 10.0), ("2026-02-02", -3.0)]
    rows = premiums(pe, [("2026-01-05", 1.8), ("2026-01-07", 2.0)])

    assert [row["date"] for row in rows] == ["2026-01-05", "2026-01-06"]  # a yield is used for 15 days
    assert rows[0] == {
        "date": "2026-01-05", "pe": 12.5, "earnings_yield_pct": 8.0, "bond_10y_pct": 1.8, "erp_pct": 6.2,
    }  # fmt: skip
    assert rows[1]["erp_pct"] == 8.2  # not the yield of the day after
    assert premiums(pe, []) == premiums([], [("2026-01-05", 1.8)]) == []


def test_where_a_premium_stands() -> None:
    found = position_of_newest([{"erp_pct": value} for value in (1.0, 5.0, 3.0)])
    assert found["percentile_pct"] == pytest.approx(66.67)
    assert found["band"] == {"mean": 3.0, "plus1": pytest.approx(4.633), "minus1": pytest.approx(1.367)}
    assert position_of_newest([])["band"]["mean"] is None


def test_a_value_far_from_its_past_is_found_and_a_constant_rate_is_none() -> None:
    moving = np.array([float(at % 5) for at in range(30)])
    assert near_its_past(moving).all()
    moving[-1] = 100.0
    assert near_its_past(moving).tolist() == [True] * 29 + [False]
    flat = np.array([3.0] * 29 + [2.9])
    assert near_its_past(flat).all()
    assert near_its_past(flat[:5]).all()
    assert months_between(["2025-11-01", "2026-02-01", "2026-03-20"]) == [3, 1]
