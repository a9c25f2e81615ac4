"""A limit is given where everything that it follows from is known, and said to be unknown elsewhere."""

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.day_limits import DayLimits, day_limits, limit_status

NAN = float("nan")


def one(
    board: str,
    *,
    special: float,
    day: str = "2022-07-01",
    reference: float = 10.0,
    listed: int = 0,
    unlimited: bool = False,
) -> tuple[float, float, bool]:
    found: DayLimits = day_limits(
        np.array([reference]),
        np.array([board]),
        np.array([special]),
        np.array([day]),
        listed_days=np.array([listed]),
        unlimited=np.array([unlimited]),
    )
    return float(found.up[0]), float(found.down[0]), bool(found.known[0])


@pytest.mark.parametrize(("special", "limits"), [(0.0, (11.0, 9.0, True)), (1.0, (10.5, 9.5, True))])
def test_a_known_state_gives_the_limits_of_its_band(
    special: float, limits: tuple[float, float, bool]
) -> None:
    assert one("main", special=special) == limits


def test_an_unknown_state_leaves_the_limits_unknown_where_it_matters() -> None:
    up, down, known = one("main", special=NAN)

    assert np.isnan([up, down]).all()
    assert not known


@pytest.mark.parametrize(
    ("board", "day", "limits"),
    [
        ("gem", "2022-07-01", (12.0, 8.0, True)),
        ("star", "2022-07-01", (12.0, 8.0, True)),
        ("bj", "2022-07-01", (13.0, 7.0, True)),
        ("etf", "2022-07-01", (11.0, 9.0, True)),
        ("main", "2026-07-06", (11.0, 9.0, True)),
    ],
)
def test_an_unknown_state_is_no_matter_where_both_bands_are_one(
    board: str, day: str, limits: tuple[float, float, bool]
) -> None:
    assert one(board, special=NAN, day=day) == limits


def test_an_unknown_state_matters_on_chinext_before_registration() -> None:
    assert one("gem", special=NAN, day="2020-08-21")[2] is False
    assert one("gem", special=NAN, day="2020-08-24")[2] is True


@pytest.mark.parametrize("special", [0.0, NAN])
def test_a_day_without_limits_is_known_whatever_else_is_not(special: float) -> None:
    for known in (
        one("gem", special=special, reference=NAN, listed=1),
        one("main", special=special, reference=NAN, unlimited=True),
    ):
        assert np.isnan(known[:2]).all()
        assert known[2] is True


def test_a_first_day_under_the_old_rule_needs_the_issue_price() -> None:
    assert one("main", special=0.0, reference=10.0, listed=1) == (14.4, 6.4, True)
    assert one("main", special=0.0, reference=NAN, listed=1)[2] is False
    # The first day's band does not depend on special treatment.
    assert one("main", special=NAN, reference=10.0, listed=1) == (14.4, 6.4, True)


def test_rows_do_not_touch_each_other() -> None:
    found = day_limits(
        np.array([10.0, NAN, 10.0, 20.0]),
        np.array(["main", "main", "main", "gem"]),
        np.array([0.0, 0.0, NAN, NAN]),
        np.array(["2022-07-01"] * 4),
        listed_days=np.zeros(4, dtype=np.int64),
        unlimited=np.zeros(4, dtype=bool),
    )

    assert found.known.tolist() == [True, False, False, True]
    assert found.up.tolist()[0] == 11.0
    assert found.up.tolist()[3] == 24.0
    assert np.isnan(found.up[1:3]).all()


@pytest.mark.parametrize(
    ("prices", "state"),
    [
        ((11.0, 11.0, 10.5), "up"),
        ((10.9, 11.0, 10.5), "up_open"),
        ((9.0, 9.5, 9.0), "down"),
        ((9.2, 9.5, 9.0), "down_open"),
        ((10.1, 10.2, 10.0), "none"),
        ((11.01, 11.01, 10.0), "up"),  # a computed limit may be off by a tick
        ((14.6, 14.6, 12.7), "no_limit"),
        ((10.9, 14.6, 10.5), "no_limit"),
        ((9.4, 9.5, 7.0), "no_limit"),
    ],
)
def test_a_price_beyond_a_limit_says_that_there_was_none(
    prices: tuple[float, float, float], state: str
) -> None:
    close, high, low = prices
    rows = pd.DataFrame([{"close": close, "high": high, "low": low, "limit_up": 11.0, "limit_down": 9.0}])

    assert limit_status(rows, price="close", traded=pd.Series([True])).tolist() == [state]
    assert limit_status(rows, price="close", traded=pd.Series([False])).tolist() == ["none"]


def test_a_day_without_limits_has_a_state_of_its_own() -> None:
    rows = pd.DataFrame([{"close": 10.0, "high": 10.0, "low": 10.0, "limit_up": NAN, "limit_down": NAN}])

    assert limit_status(rows, price="close", traded=pd.Series([True])).tolist() == ["no_limit"]
