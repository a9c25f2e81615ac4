"""The kernels say what the definitions say."""

import pytest

from platform_assets.compute.bars import Bars
from platform_assets.compute.parameters.patterns import MIN_BARS
from platform_assets.compute.patterns import pattern_columns
from tests.compute.patterns.reference import COLUMNS, Series, days, told


def compared(bars: Bars) -> set[str]:
    """The columns that said something."""
    columns = pattern_columns(bars)
    seen: set[str] = set()
    for code in bars.codes:
        series, start = Series(bars, code), bars.rows_of(code).start
        for t in range(len(series.close)):
            expected = days(series, t) if t >= MIN_BARS - 1 else {}
            found = told(columns, start + t)
            assert found == pytest.approx(expected, rel=1e-9), (code, t)
            seen |= set(found)
    return seen


def test_made_up_prices(restless: Bars) -> None:
    assert compared(restless) >= set(COLUMNS) - {"cup_handle"}


def test_real_prices(real_bars: Bars) -> None:
    assert compared(real_bars.take(real_bars.codes[::2])) >= {"double_top", "triangle", "wedge"}
