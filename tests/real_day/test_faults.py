"""The three faults that users of such data complain of most, acted out by the responders: caught on the
committed slice before any write. What is refused never reaches an engine, so one engine is enough here;
`make real-day` shows them on both."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from simulated_market.world.replay import ReplayWorld
from tests.real_day import scenarios
from tests.real_day.conftest import SLICE
from tests.real_day.services import RealDay
from tests.real_day.truth import Truth
from tests.real_day.window import Window, window_of


@pytest.fixture(scope="module")
def empty_day(
    world: ReplayWorld, window: Window, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealDay]:
    folder = tmp_path_factory.mktemp("faults")
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    with RealDay(world, SLICE, window, url, folder / "data", in_memory=True) as opened:
        yield opened


def test_a_list_cut_short_writes_nothing(empty_day: RealDay) -> None:
    """The slice has nine and eight securities in its lists, so its cut is at five rows; see below for 100."""
    assert scenarios.cut_list(empty_day, 5).failed == []


@pytest.mark.soak
def test_lots_on_one_board_and_shares_on_another_are_refused(day: RealDay, truth: Truth) -> None:
    assert scenarios.other_unit(day, truth, boards=("star",)).failed == []


@pytest.mark.soak
def test_an_index_or_another_stock_under_a_stocks_code_is_refused(day: RealDay, truth: Truth) -> None:
    assert scenarios.wrong_instrument(day, truth).failed == []


@pytest.mark.real_data
def test_the_list_of_the_full_set_cut_at_100_rows_writes_nothing(real_data_dir: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    with RealDay(
        ReplayWorld(real_data_dir), real_data_dir, window_of(real_data_dir), url, tmp_path / "data"
    ) as day:
        assert scenarios.cut_list(day, 100).failed == []
