"""The kernels say what the definitions say."""

import numpy as np
import pytest

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.parameters.patterns import MIN_BARS
from platform_assets.compute.patterns import DIRECTIONS, pattern_columns
from tests.compute.patterns import reference, reference_shapes
from tests.compute.patterns.reference import Series

PIVOTED = {*reference.COLUMNS}
SHAPES = {"flag", "flag_kind", "arc_bottom", "arc_top", "duck_stage", "duck_buy", "duck_sell"}


def shapes(series: Series) -> dict[str, list[float]]:
    flags, kinds = reference_shapes.flags(series)
    arcs = {
        f"arc_{name}": reference_shapes.arcs(series, bottom=name == "bottom") for name in ("bottom", "top")
    }
    return {"flag": flags, "flag_kind": kinds, **arcs, **reference_shapes.duck(series)}


def compared(bars: Bars) -> set[str]:
    """The columns that said something, each as it was said."""
    columns = pattern_columns(bars)
    seen: set[str] = set()
    for code in bars.codes:
        series, rows = Series(bars, code), bars.rows_of(code)
        for name, values in shapes(series).items():
            found: Floats = columns[name][rows]
            np.testing.assert_array_equal(found, values, err_msg=f"{code} {name}")
            seen |= {name} if np.nan_to_num(found).any() else set()
        for t in range(MIN_BARS - 1, len(series.close)):
            reported = reference.reported(columns, rows.start + t)
            assert reported == pytest.approx(reference.days(series, t), rel=1e-9), (code, t)
            seen |= set(reported)
    return seen


def test_made_up_prices(restless: Bars) -> None:
    seen = compared(restless.take(restless.codes[::2]))
    assert seen >= PIVOTED - {"cup_handle", "island", "triple_bottom"}
    assert seen >= SHAPES - {"arc_bottom", "duck_buy"}


def test_real_prices(real_bars: Bars) -> None:
    assert len(compared(real_bars.take(real_bars.codes[::2]))) > 10


@pytest.mark.soak
@pytest.mark.real_data
def test_real_prices_of_100_codes(all_real_bars: Bars) -> None:
    assert compared(all_real_bars.take(all_real_bars.codes[::3])) >= {*DIRECTIONS}
