"""The real day on the committed slice, loaded once per engine for the tests that only read it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from simulated_market.world.replay import ReplayWorld
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.real_day.services import RealDay
from tests.real_day.truth import Truth, read
from tests.real_day.window import Window, window_of

SLICE = Path(__file__).parents[1] / "real_data"


@pytest.fixture(scope="session")
def world() -> ReplayWorld:
    return ReplayWorld(SLICE)


@pytest.fixture(scope="session")
def window() -> Window:
    return window_of(SLICE)


@pytest.fixture(scope="session")
def truth(window: Window) -> Truth:
    return read(SLICE, window.since, window.today)


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def empty_day(
    request: pytest.FixtureRequest,
    world: ReplayWorld,
    window: Window,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RealDay]:
    """A platform with an empty warehouse on either engine; the first test of a module finds it so."""
    folder = tmp_path_factory.mktemp("real_day")
    with ExitStack() as stack:
        url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
        if request.param == "mariadb":
            databases = mariadb_database("builtin")
            url = next(databases)
            stack.callback(lambda: next(databases, None))
        yield stack.enter_context(RealDay(world, SLICE, window, url, folder / "data", in_memory=True))


@pytest.fixture(scope="module")
def day(empty_day: RealDay) -> RealDay:
    """The same, loaded: security list, backfill, the day."""
    runs = empty_day.load()
    assert [run.failed for run in runs] == [{}, {}, {}]
    return empty_day
