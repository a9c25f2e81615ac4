"""Limits counted by hand: stocks at one, broken ones, streaks over suspended days, promotion."""

from dataclasses import replace

import numpy as np
import pytest

from platform_assets.compute.limit_days import LimitWindow, count_limits, sealed_share
from platform_assets.compute.parameters.market_phase import STREAK_DAYS

N = np.nan
ROWS = {
    # two boards, a suspended day, a third board
    "streak": [(11.0, 11.0), (12.1, 12.1), None, (13.31, 13.31)],
    # a board that broke and was held again the day after
    "broke": [(11.0, 11.0), (11.5, 12.1), (12.0, 12.0), (13.2, 13.2)],
    "special": [(11.0, 11.0), (12.1, 12.1), (13.31, 13.31), (14.64, 14.64)],
    "falls": [(9.0, 9.5), (8.1, 8.8), (8.5, 8.6), (8.5, 8.5)],
}
LIMITS = {
    "streak": [11.0, 12.1, 13.31, 13.31],
    "broke": [11.0, 12.1, 12.65, 13.2],
    "special": [11.0, 12.1, 13.31, 14.64],
    "falls": [11.0, 9.9, 8.91, 9.35],
}
FLOORS = {"falls": [9.0, 8.1, 7.29, 7.65]}


def window() -> LimitWindow:
    close = np.array([[N if bar is None else bar[0] for bar in rows] for rows in ROWS.values()])
    high = np.array([[N if bar is None else bar[1] for bar in rows] for rows in ROWS.values()])
    first = np.full((len(ROWS), 1), 10.0)
    before = np.hstack([first, close[:, :-1]])
    return LimitWindow(
        close=close,
        high=high,
        low=close,
        limit_up=np.array(list(LIMITS.values())),
        limit_down=np.array([FLOORS.get(name, [1.0] * 4) for name in ROWS]),
        change_pct=(close / before - 1) * 100,
        volume=np.where(np.isnan(close), N, 100.0),
        amount=np.where(np.isnan(close), N, 1000.0),
    )


def test_every_count_of_a_small_market() -> None:
    special = np.zeros((4, 4), dtype=bool)
    special[2] = True

    counts = count_limits(window(), special)

    assert counts.all_up.tolist() == [3, 2, 1, 3]
    assert counts.up.tolist() == [2, 1, 0, 2]
    assert counts.all_down.tolist() == [1, 1, 0, 0]
    assert counts.broken.tolist() == [0, 1, 0, 0]
    assert window().boards[0].tolist() == [1, 2, 0, 3]  # the suspended day is passed over
    assert counts.max_boards.tolist() == [1, 2, 0, 3]  # not the four of the special one
    np.testing.assert_allclose(counts.promotion_pct, [N, 50, 0, N])  # no stock can be promoted on the last
    np.testing.assert_allclose(counts.prev_change_pct[1], (10 + (11.5 / 11 - 1) * 100) / 2)
    assert (counts.rose[0], counts.fell[0], counts.flat[0]) == (3, 1, 0)
    assert counts.amount.tolist() == [4000, 4000, 3000, 4000]


def test_a_date_without_bars_tells_nothing() -> None:
    empty = np.full((2, 2), N)
    counts = count_limits(LimitWindow(*[empty] * 8), np.zeros((2, 2), dtype=bool))
    for values in (counts.up, counts.max_boards, counts.promotion_pct, counts.amount):
        assert np.isnan(values).all()


def held(days: int, codes: int = 40) -> LimitWindow:
    """Every stock closes at its limit on every date."""
    prices = np.broadcast_to(10 * 1.1 ** np.arange(1, days + 1), (codes, days))
    return LimitWindow(prices, prices, prices, prices, prices * 0.8, *[np.full((codes, days), 10.0)] * 3)


def test_one_stored_bar_is_no_market() -> None:
    volume = np.full((40, 4), 100.0)
    volume[1:, 2] = np.nan  # the load of the third date is missing; one code was downloaded alone
    counts = count_limits(replace(held(4), volume=volume), np.zeros((40, 4), dtype=bool))

    assert counts.all_up.tolist() == pytest.approx([40, 40, N, 40], nan_ok=True)
    # Neither is anything promoted to that date, nor from it.
    np.testing.assert_array_equal(counts.promotion_pct, [N, 100, N, N])
    np.testing.assert_array_equal(counts.prev_change_pct, [N, 10, N, N])
    for values in (counts.up, counts.max_boards, counts.rose, counts.amount):
        assert np.isnan(values).tolist() == [False, False, True, False]
    # A market of two stocks, one of which rests, is one.
    small = held(2, codes=2)
    rests = np.array([[1.0, N], [1.0, 1.0]])
    assert count_limits(replace(small, volume=rests), np.zeros((2, 2), dtype=bool)).all_up.tolist() == [2, 1]


def test_a_streak_ends_where_the_market_was_not_loaded() -> None:
    volume = np.full((40, 4), 100.0)
    volume[0, 1] = np.nan  # one stock rests
    volume[1:, 2] = np.nan  # a date whose load is missing, but for one downloaded code
    gap = replace(held(4), volume=volume)
    counts = count_limits(gap, np.zeros((40, 4), dtype=bool))

    assert gap.boards[0].tolist() == [1, 0, 2, 3]
    assert gap.boards[1].tolist() == [1, 2, 0, 1]
    # What was downloaded alone goes on; of the market nothing is known across the gap.
    np.testing.assert_array_equal(counts.max_boards, [1, 2, N, 3])


def test_a_streak_does_not_depend_on_how_far_back_the_window_begins() -> None:
    days = STREAK_DAYS + 20
    whole = count_limits(held(days), np.zeros((40, days), dtype=bool)).max_boards
    assert whole.tolist() == [min(at + 1, STREAK_DAYS + 1) for at in range(days)]


def test_a_stock_without_limit_is_at_none() -> None:
    one = window()
    free = LimitWindow(**{**vars(one), "limit_up": np.full((4, 4), N), "limit_down": np.full((4, 4), N)})
    assert not free.at_limit.any()


def test_the_share_of_limits_that_held() -> None:
    shares = sealed_share(np.array([3.0, 0.0, N]), np.array([1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(shares, [75, N, N])


def test_nothing_of_a_date_looks_ahead() -> None:
    special = np.zeros((4, 4), dtype=bool)
    whole = vars(count_limits(window(), special))
    for cut in (1, 2, 3):
        short = LimitWindow(**{name: values[:, :cut] for name, values in vars(window()).items()})
        for name, values in vars(count_limits(short, special[:, :cut])).items():
            np.testing.assert_array_equal(values, whole[name][:cut])
