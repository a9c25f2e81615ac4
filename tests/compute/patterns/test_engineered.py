"""The paths of the sample market that are made to break out fire on their days."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.patterns import pattern_columns
from simulated_market.world.companies import FEATURES
from simulated_market.world.full import SyntheticWorld

PATTERNS = {
    "cup_handle": "cup_handle",
    "double_bottom": "double_bottom",
    "island": "island",
    "old_duck": "duck_buy",
}
NOW = datetime(2026, 12, 31, 16)


@pytest.fixture(scope="module")
def world() -> SyntheticWorld:
    return SyntheticWorld("S")


def bars_of(world: SyntheticWorld, symbol: str) -> Bars:
    reported = world.bars(world.find(symbol), NOW)
    steps = np.append(1.0, reported.close[:-1] / reported.preclose[1:])
    names = ("date", "open", "high", "low", "close", "volume")
    frame = pd.DataFrame({name: getattr(reported, name) for name in names} | {"code": symbol})
    return Bars.from_frame(frame.assign(adj_factor=np.cumprod(steps))[reported.traded])


@pytest.mark.parametrize("name", PATTERNS)
def test_breaks_on_its_day(world: SyntheticWorld, name: str) -> None:
    (feature,) = [one for one in FEATURES if one.name == name]
    bars = bars_of(world, feature.symbol)
    values: Floats = pattern_columns(bars)[PATTERNS[name]]
    (row,) = np.flatnonzero(bars.date == feature.date)
    assert values[row] == 100.0
    assert not values[row - 20 : row].any()
    assert not values[row + 1 : row + 11].any()
