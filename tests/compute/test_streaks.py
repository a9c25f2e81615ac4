"""Limit-ups in a row: what ends one, what it passes over, how far it looks back."""

import numpy as np
import pytest

from platform_assets.compute.limit_days import limit_streaks

N = np.nan


def column(*states: float) -> np.ndarray:
    return np.array(states, dtype=float)[:, None]


@pytest.mark.parametrize(
    ("states", "streaks"),
    [
        ((1, 1, 0, 1), (1, 2, 0, 1)),
        # Rest days are passed over, and are no limit-ups themselves.
        ((1, N, N, 1, 0, N, 1), (1, 0, 0, 2, 0, 0, 1)),
        ((N, N), (0, 0)),
        ((), ()),
    ],
)
def test_a_fall_from_the_limit_ends_it_and_a_rest_does_not(
    states: tuple[float, ...], streaks: tuple[int, ...]
) -> None:
    assert limit_streaks(column(*states), 10)[:, 0].tolist() == list(streaks)


def test_a_date_looks_at_so_many_dates_and_no_further() -> None:
    up = column(*[1.0] * 8)
    assert limit_streaks(up, 3)[:, 0].tolist() == [1, 2, 3, 3, 3, 3, 3, 3]
    assert limit_streaks(column(1, 1, N, 1, 1), 3)[:, 0].tolist() == [1, 2, 0, 2, 2]


def test_each_date_is_what_its_own_window_says() -> None:
    chance = np.random.default_rng(3)
    up = chance.choice([1.0, 0.0, N], p=[0.7, 0.1, 0.2], size=(60, 12))
    whole = limit_streaks(up, 9)
    for at in range(len(up)):
        window = up[max(0, at - 8) : at + 1]
        np.testing.assert_array_equal(limit_streaks(window, 9)[-1], whole[at])
        for code, states in enumerate(window.T):
            traded = states[~np.isnan(states)]
            run = next((n for n, one in enumerate(traded[::-1]) if one != 1), len(traded))
            assert whole[at, code] == (run if states[-1] == 1 else 0)
