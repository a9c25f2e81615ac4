"""Which market dates count as loaded."""

import pytest

from platform_assets.compute.loaded import known_dates


@pytest.mark.parametrize(
    ("counts", "known"),
    [
        ([], []),
        ([5000, 1, 5000], [True, False, True]),
        ([5000, 5000, 1], [True, True, False]),
        ([1, 5000], [False, True]),
        ([2800, 1400], [True, True]),
        ([2, 1, 2, 0], [True, True, True, False]),
        ([0, 0], [False, False]),
    ],
)
def test_a_date_is_loaded_when_its_market_is_there(counts: list[int], known: list[bool]) -> None:
    assert known_dates(counts).tolist() == known


def test_a_market_that_grows_over_the_years_was_loaded_when_it_was_small() -> None:
    assert known_dates([50] * 40 + [150] * 40 + [450] * 40).all()
