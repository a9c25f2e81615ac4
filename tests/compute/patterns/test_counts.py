"""How often the patterns fire on real bars is what the documentation says."""

import re
from pathlib import Path

import numpy as np
import pytest

from core.market.bars import Bars
from platform_assets.compute.parameters.patterns import DIRECTIONS, MIN_BARS
from platform_assets.compute.patterns import pattern_columns
from tests.compute.patterns.reference import Series

PAGE = Path(__file__).parents[3] / "docs/calculations/patterns.md"
_ROW = re.compile(r"\| `(\w+)` \| (\d+) \| (\d+) \| (\d*) ?\|")


def stock_years(bars: Bars) -> float:
    return float(np.maximum(np.diff(bars.offsets) - MIN_BARS + 1, 0).sum() / 243)


def unconfirmed(bars: Bars, name: str, fired: list[int]) -> int:
    """How many breaks come before the last extreme is a swing of the list."""
    side = 1 if name.endswith("bottom") else -1
    series = {code: Series(bars, code) for code in {bars.codes[bars.owner[row]] for row in fired}}
    at = [(bars.codes[bars.owner[row]], row) for row in fired]
    return sum(series[code].pivots(row - bars.rows_of(code).start)[-1].side == side for code, row in at)


def counts(bars: Bars) -> dict[str, tuple[int, int | None]]:
    """Column -> signals per 1,000 stock-years, and of the reversals those with an unconfirmed extreme."""
    columns, scale = pattern_columns(bars), 1000 / stock_years(bars)
    found: dict[str, tuple[int, int | None]] = {}
    for name in DIRECTIONS:
        fired = np.flatnonzero(columns[name]).tolist()
        is_reversal = name.startswith(("double", "triple", "head"))
        young = round(unconfirmed(bars, name, fired) * scale) if is_reversal else None
        found[name] = round(len(fired) * scale), young
    return found


@pytest.mark.soak
@pytest.mark.real_data
def test_counts_are_documented(all_real_bars: Bars) -> None:
    reported = {
        name: (int(count), int(young) if young else None)
        for name, _, count, young in _ROW.findall(PAGE.read_text())
    }
    assert reported == counts(all_real_bars)
