"""A sample market with its daily calculations and the app in front of it: one for all reading tests."""

from collections.abc import Iterator

import pytest

from tests.pipeline.conftest import TODAY, Services
from tests.serving_api.areas.conftest import Topics, served

BAR_DATES = 402
CALCULATED = ("indicator_daily", "pattern_daily", "chip_daily", "signal_hit")
"""Calculated tables of the newest two dates, in the order in which they need each other."""


def load(services: Services) -> None:
    """Bars of more than a window, the wide table of the newest date, and what is calculated."""
    dates = services.run.calendar.last(BAR_DATES, TODAY)
    services.day(TODAY)
    services.bars(*dates)
    services.fuse("index_daily", *dates)
    for name in CALCULATED:
        if name in services.registry.datasets:
            services.fuse(name, *dates[-2:])


@pytest.fixture(scope="session")
def quant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    folder = tmp_path_factory.mktemp("quant")
    yield from served(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, load)
