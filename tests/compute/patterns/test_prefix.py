"""No look-ahead: what is said of a day follows from the bars up to it."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from platform_assets.compute.bars import Bars, Floats
from platform_assets.compute.patterns import pattern_columns
from tests.compute.patterns.conftest import real_bars

Compute = Callable[..., dict[str, Floats]]


def looks_ahead(compute: Compute, bars: Bars, days: Iterable[int]) -> set[str]:
    """The columns whose value of one of the days differs once the bars after it are known."""
    whole, wrong = compute(bars), set()
    for day in days:
        known = bars.date <= day
        last = np.flatnonzero(known & ~np.append(known[1:] & (bars.owner[1:] == bars.owner[:-1]), False))
        for name, values in compute(bars.until(day), newest=1).items():
            if not np.array_equal(values, whole[name][last], equal_nan=True):
                wrong.add(name)
    return wrong


def every_day(bars: Bars, after: int) -> list[int]:
    return np.unique(bars.date).tolist()[after:]


def test_real_prices(real: Bars) -> None:
    assert looks_ahead(pattern_columns, real, every_day(real, 55)) == set()


def test_made_up_prices(restless: Bars) -> None:
    assert looks_ahead(pattern_columns, restless, every_day(restless, 55)[::3]) == set()


def test_a_glance_ahead_is_seen(real: Bars) -> None:
    """A swing that is told on its own day, five bars before it is confirmed."""

    def early(bars: Bars, newest: int | None = None) -> dict[str, Floats]:
        told = pattern_columns(bars)
        ahead = np.roll(told["wedge_kind"], -1)
        ahead[bars.last_rows] = told["wedge_kind"][bars.last_rows]
        rows = slice(None) if newest is None else bars.last_rows
        return {name: values[rows] for name, values in (told | {"wedge_kind": ahead}).items()}

    assert looks_ahead(early, real, every_day(real, 55)) == {"wedge_kind"}


@pytest.mark.soak
def test_real_prices_of_300_codes(real_data_dir: Path) -> None:
    bars = real_bars(real_data_dir)
    assert looks_ahead(pattern_columns, bars, every_day(bars, 320)) == set()
