"""Worlds shared by the tests of this folder; they are read-only."""

import os
from pathlib import Path

import pytest

from simulated_market.world.full import SyntheticWorld
from simulated_market.world.replay import ReplayWorld

SLICE = Path(__file__).parents[2] / "real_data"


@pytest.fixture(scope="session")
def world():
    return SyntheticWorld("S")


@pytest.fixture(scope="session")
def medium():
    return SyntheticWorld("M")


@pytest.fixture(scope="session")
def replay():
    return ReplayWorld(SLICE)


@pytest.fixture(scope="session")
def real_data():
    folder = Path(os.environ.get("REAL_DATA_DIR", Path(__file__).parents[4] / "shared/data"))
    if not (folder / "bars_daily_raw_hs300_2020_2025.csv.gz").exists():
        pytest.skip("REAL_DATA_DIR is absent: the full set of real bars is not on this machine")
    return folder
