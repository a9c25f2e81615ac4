"""Coupons of a text, and yields that can be checked by hand."""

import math

import pytest

from platform_assets.compute.bond_yield import coupon_rates, yield_to_maturity

DAY, NEXT_YEAR = "2026-08-21", "2027-08-21"


def test_coupons_of_a_text() -> None:
    assert coupon_rates("第一年0.20%、第二年0.40%,第三年为1%。") == (0.2, 0.4, 1.0)
    assert coupon_rates("票面利率见公告") == ()
    assert coupon_rates(None) == ()


def test_one_payment_in_a_year() -> None:
    found = yield_to_maturity(100.0, DAY, NEXT_YEAR, (0.2, 2.0), 110.0)
    assert found == pytest.approx(10.0, abs=1e-6)
    assert yield_to_maturity(125.0, DAY, NEXT_YEAR, (2.0,), 110.0) == pytest.approx(-12.0, abs=1e-6)


def test_coupons_that_are_still_to_come_count() -> None:
    with_coupon = yield_to_maturity(100.0, DAY, "2028-08-21", (1.0, 5.0, 5.0), 105.0)
    assert with_coupon == pytest.approx(5.0, abs=0.01)


def test_what_cannot_be_computed_is_missing() -> None:
    assert math.isnan(yield_to_maturity(100.0, DAY, DAY, (1.0,), 105.0))
    assert math.isnan(yield_to_maturity(math.nan, DAY, NEXT_YEAR, (1.0,), 105.0))
    assert math.isnan(yield_to_maturity(100.0, DAY, NEXT_YEAR, (), 105.0))
    assert math.isnan(yield_to_maturity(100.0, DAY, NEXT_YEAR, (1.0,), math.nan))
