"""On real bars, a formula's value of a day does not change when the days after it are known."""

from collections.abc import Callable

import numpy as np
import pytest

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute import series
from platform_assets.compute.formulas.builtin import BUILTINS
from platform_assets.compute.formulas.evaluate import along
from platform_assets.compute.formulas.parser import parse
from tests.compute.prefix import mismatches

_PRICES = ("open", "high", "low", "close")


def of_rows(bars: Bars, work: Callable[[dict[str, Floats]], Floats]) -> Floats:
    """`work` over blocks, back in the order of the rows."""
    block = {**series.blocks(bars, *_PRICES, adjusted=True), **series.blocks(bars, "volume", "amount")}
    with np.errstate(all="ignore"):
        values = work(block)
    counts = np.diff(bars.offsets)
    return values[np.arange(values.shape[1]) >= values.shape[1] - counts[:, np.newaxis]]


def test_no_formula_of_ours_looks_ahead(real_bars: Bars) -> None:
    formulas = {one.key: parse(one.text) for one in BUILTINS}

    def compute(bars: Bars) -> dict[str, Floats]:
        return {
            key: of_rows(bars, lambda block, formula=formula: along(formula, block, block["close"].shape))
            for key, formula in formulas.items()
        }

    assert mismatches(compute, real_bars, every=7, exact=formulas.keys()) == []


@pytest.mark.parametrize("ahead", [1, 5])
def test_a_formula_that_did_would_be_caught(ahead: int, real_bars: Bars) -> None:
    def compute(bars: Bars) -> dict[str, Floats]:
        return {"planted": of_rows(bars, lambda block: np.roll(block["close"], -ahead, axis=1))}

    assert mismatches(compute, real_bars, every=50)
