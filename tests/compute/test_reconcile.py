"""Differences of two sources: roundings subtracted first, counted by kind, the worst names first."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from platform_assets.compute.reconcile import ABS, PCT, SIGN_PCT, Tolerance, measure


def pairs(*rows: tuple[str, float | None, float | None], rounding: float = 0.0) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=["code", "a", "b"]).astype({"a": float, "b": float})
    return made.assign(rounding=rounding)


def test_what_the_wires_round_is_no_difference() -> None:
    rows = pairs(("a", 12_345.0, 12_300.0), ("b", 500.0, 650.0), rounding=100.0)

    reported = measure(rows, Tolerance(0.0, ABS))

    assert (reported["compared"], reported["within_count"], reported["within_pct"]) == (2, 1, 50.0)
    assert reported["worst"] == [{"code": "b", "a": 500.0, "b": 650.0, "diff": 50.0}]
    assert (reported["max_diff"], reported["mean_diff"], reported["status"]) == (50.0, -25.0, "warning")


def test_percent_is_of_the_larger_value_and_zero_agrees_with_zero() -> None:
    rows = pairs(("a", 100.0, 99.95), ("b", 100.0, 90.0), ("c", 0.0, 0.0))

    reported = measure(rows, Tolerance(0.1, PCT))

    assert (reported["compared"], reported["within_count"]) == (3, 2)
    assert reported["max_diff"] == 10.0
    assert [one["code"] for one in reported["worst"]] == ["b", "a"]


def test_signs_count_where_they_are_asked_for() -> None:
    rows = pairs(("a", 100.0, 85.0), ("b", 1.0, -1.0))

    assert measure(rows, Tolerance(20.0, SIGN_PCT))["within_count"] == 1
    assert measure(rows, Tolerance(300.0, SIGN_PCT))["within_count"] == 1
    assert measure(rows, Tolerance(300.0, PCT))["within_count"] == 2


def test_values_of_one_side_are_counted_and_nothing_is_no_source() -> None:
    rows = pairs(*[(f"c{n}", 1.0, 1.0) for n in range(98)], ("x", 1.0, None), ("y", None, 2.0))

    reported = measure(rows, Tolerance(0.0, ABS))
    alone = measure(pairs(("x", 1.0, None)), Tolerance(0.0, ABS))
    nothing = measure(pairs(), Tolerance(0.0, ABS))

    assert (reported["only_a"], reported["only_b"], reported["status"]) == (1, 1, "warning")
    assert (alone["status"], alone["within_pct"], alone["only_a"]) == ("no_second_source", None, 1)
    assert (nothing["compared"], nothing["worst"], nothing["max_diff"]) == (0, [], None)


def test_the_worst_ten_in_a_fixed_order() -> None:
    rows = pairs(*[(f"c{n:02d}", float(n // 2), 0.0) for n in range(30)])

    worst = measure(rows, Tolerance(0.0, ABS))["worst"]

    assert [one["code"] for one in worst] == [
        "c28",
        "c29",
        "c26",
        "c27",
        "c24",
        "c25",
        "c22",
        "c23",
        "c20",
        "c21",
    ]


@given(st.lists(st.tuples(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12)), min_size=1, max_size=30))
def test_the_sides_may_be_exchanged(values: list[tuple[float, float]]) -> None:
    rows = pairs(*[(str(at), a, b) for at, (a, b) in enumerate(values)], rounding=0.5)
    turned = rows.rename(columns={"a": "b", "b": "a"})

    one, other = measure(rows, Tolerance(1.0)), measure(turned, Tolerance(1.0))

    for name in ("compared", "within_count", "median_diff", "p95_diff", "max_diff", "status"):
        assert one[name] == other[name]
    assert one["mean_diff"] == pytest.approx(-other["mean_diff"])
    assert 0 <= one["within_count"] <= one["compared"]
