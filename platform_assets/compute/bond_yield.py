"""Yield to maturity of a bond with one coupon a year. Pure."""

import math
import re
from collections.abc import Sequence
from datetime import date

_COUPON = re.compile(r"第[一二三四五六七八九十]+年[^0-9第]{0,4}([0-9]+(?:\.[0-9]+)?)\s*%")
_LOWEST, _HIGHEST = -0.9999, 10.0
_STEPS = 80
_NOMINAL = 100.0


def coupon_rates(text: str | None) -> tuple[float, ...]:
    """Percent by year of `第一年0.20%、第二年0.40%、...`; () where the text says something else."""
    return tuple(float(rate) for rate in _COUPON.findall(text or ""))


def yield_to_maturity(
    price: float, day: str, maturity: str, coupons: Sequence[float], redemption: float
) -> float:
    """Percent a year, before taxes, of a bond that is bought at the full `price` on `day` and held to
    `maturity`. `coupons` are percent of 100 by year, the last of them paid within `redemption`. NaN where
    nothing is left to be paid, or a figure is missing."""
    flows = _flows(day, maturity, coupons, redemption)
    if not flows or not (price > 0 and redemption > 0):
        return math.nan

    def worth(rate: float) -> float:
        return math.fsum(paid / math.pow(1 + rate, years) for years, paid in flows)

    low, high = _LOWEST, _HIGHEST
    if not worth(high) <= price <= worth(low):
        return math.nan
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) > price else (low, middle)
    return (low + high) / 2 * 100


def _flows(day: str, maturity: str, coupons: Sequence[float], redemption: float) -> list[tuple[float, float]]:
    """(years from `day`, amount) of what is still to be paid."""
    bought, last = date.fromisoformat(day), date.fromisoformat(maturity)
    if last <= bought or not coupons:
        return []
    flows = [((last - bought).days / 365, redemption)]
    for before, rate in enumerate(reversed(coupons[:-1]), start=1):
        paid = _years_before(last, before)
        if paid > bought:
            flows.append(((paid - bought).days / 365, rate * _NOMINAL / 100))
    return flows


def _years_before(day: date, years: int) -> date:
    return day.replace(year=day.year - years, day=28 if (day.month, day.day) == (2, 29) else day.day)
