"""The emotion cycle by hand: anchors, ranks, missing inputs, stages, hysteresis, runs and transitions."""

import numpy as np
import pytest

from platform_assets.compute.market_phase import (
    Segment,
    rank_pct,
    raw_stage,
    score_days,
    segments,
    settle,
    slopes,
    transitions,
)
from platform_assets.compute.parameters.market_phase import INPUTS

N = np.nan
KEYS = [one.key for one in INPUTS]
MIDDLE = {
    "limit_up": 70.0, "limit_down": 30.0, "max_boards": 5.0, "broken_rate": 0.3, "promotion_rate": 0.3,
    "prev_change_pct": 1.0, "advance_share": 0.5,
}  # fmt: skip


def days(count: int = 1, **values: float) -> dict[str, np.ndarray]:
    return {key: np.full(count, value) for key, value in {**MIDDLE, **values}.items()}


def test_the_weights_are_whole() -> None:
    assert sum(one.weight for one in INPUTS) == pytest.approx(1)


def test_a_short_history_is_measured_by_anchors() -> None:
    assert score_days(days()).total[0] == pytest.approx(50)
    best = {one.key: np.array([one.best]) for one in INPUTS}
    worst = {one.key: np.array([one.worst]) for one in INPUTS}
    assert score_days(best).total[0] == pytest.approx(100)
    assert score_days(worst).total[0] == pytest.approx(0)
    # Beyond its anchor an input counts as at it, and fewer limit-downs are better.
    assert score_days(days(limit_up=500.0)).total[0] == pytest.approx(60)
    assert score_days(days(limit_down=15.0)).total[0] == pytest.approx(50 + 0.15 * 25)


def test_a_long_history_is_measured_by_rank() -> None:
    inputs = days(61)
    inputs["limit_up"] = np.arange(61.0)
    inputs["limit_down"] = np.arange(61.0)
    parts = score_days(inputs).parts[:, 60]
    assert parts[KEYS.index("limit_up")] == 100
    assert parts[KEYS.index("limit_down")] == 0
    assert parts[KEYS.index("max_boards")] == 50  # all equal
    assert rank_pct(np.array([1.0, 2.0, 2.0, 3.0]), 2.0) == 50


def test_only_the_250_dates_before_count() -> None:
    inputs = days(400)
    inputs["limit_up"] = np.r_[np.full(149, 1000.0), np.full(251, 10.0)]
    assert score_days(inputs).parts[0, 399] == 50
    assert score_days(inputs).parts[0, 398] < 50


def test_missing_inputs_leave_their_weight_to_the_others() -> None:
    scores = score_days(days(limit_up=N, advance_share=N, prev_change_pct=5.0))
    assert scores.covered[0] == pytest.approx(0.7)
    assert scores.total[0] == pytest.approx((0.55 * 50 + 0.15 * 100) / 0.7)
    poor = days(limit_up=N, limit_down=N, max_boards=N, promotion_rate=N)
    assert np.isnan(score_days(poor).total[0])


def test_nothing_of_a_date_looks_ahead() -> None:
    rng = np.random.default_rng(4)
    inputs = {key: rng.normal(size=330) * 30 + 40 for key in KEYS}
    whole = score_days(inputs).total
    for cut in (5, 61, 251, 300):
        part = score_days({key: values[:cut] for key, values in inputs.items()}).total
        np.testing.assert_array_equal(part, whole[:cut])
        assert settle(part) == settle(whole)[:cut]


@pytest.mark.parametrize(
    ("score", "slope", "stage"),
    [
        (19.9, 5, "ice"), (80, -9, "climax"), (45, 0, "rise"), (79.9, -0.1, "diverge"), (20, 0, "repair"),
        (44.9, -1, "ebb"), (50, N, "rise"),
    ],
)  # fmt: skip
def test_stages(score: float, slope: float, stage: str) -> None:
    assert raw_stage(score, slope) == stage


def test_the_slope_is_against_the_mean_of_three_dates() -> None:
    np.testing.assert_allclose(slopes(np.array([10.0, 20, 30, 40, N, 50])), [N, 10, 15, 20, N, 15])


def test_a_change_near_the_border_needs_a_second_day() -> None:
    # 46 is one point above the border: rise is the stage on its second day; with 50 at once.
    assert settle(np.array([40.0, 41, 46, 47])) == ["repair", "repair", "repair", "rise"]
    assert settle(np.array([40.0, 41, 50])) == ["repair", "repair", "rise"]
    # back below the border for a day by less than the margin: nothing changes
    assert settle(np.array([50.0, 55, 56, 44, 56])) == ["rise", "rise", "rise", "rise", "rise"]


def test_a_small_turn_needs_a_second_day_and_a_large_one_none() -> None:
    assert settle(np.array([60.0, 60, 58])) == ["rise", "rise", "rise"]
    assert settle(np.array([60.0, 60, 58, 57])) == ["rise", "rise", "rise", "diverge"]
    assert settle(np.array([60.0, 60, 56])) == ["rise", "rise", "diverge"]


def test_a_jump_over_a_band_is_measured_from_the_border_that_it_left() -> None:
    # One point beyond the far border, and dozens beyond the near one: at once.
    assert settle(np.array([85.0, 85, 44])) == ["climax", "climax", "ebb"]
    assert settle(np.array([10.0, 46])) == ["ice", "rise"]
    assert settle(np.array([21.0, 79])) == ["repair", "rise"]
    # To the neighbouring band both borders are one, and a point is not enough.
    assert settle(np.array([85.0, 85, 79])) == ["climax", "climax", "climax"]
    assert settle(np.array([10.0, 21])) == ["ice", "ice"]


def test_extremes_are_entered_at_once() -> None:
    assert settle(np.array([79.0, 80.1])) == ["rise", "climax"]
    assert settle(np.array([21.0, 19.9])) == ["repair", "ice"]
    # and left as any other stage
    assert settle(np.array([81.0, 79.5, 79.4])) == ["climax", "climax", "diverge"]


def test_a_stored_stage_stays_and_a_day_without_score_has_no_stage() -> None:
    assert settle(np.array([40.0, 41, 46]), ["ebb", "ebb"]) == ["ebb", "ebb", "ebb"]
    assert settle(np.array([50.0, N, 51])) == ["rise", None, "rise"]


def test_runs_and_transitions() -> None:
    reported = [("d1", "ice"), ("d2", "repair"), ("d3", "repair"), ("d4", "rise"), ("d5", "repair")]
    assert segments(reported) == [
        Segment("ice", "d1", "d1", 1), Segment("repair", "d2", "d3", 2), Segment("rise", "d4", "d4", 1),
        Segment("repair", "d5", "d5", 1),
    ]  # fmt: skip
    assert transitions([phase for _, phase in reported]) == {
        "ice": {"repair": 1.0}, "repair": {"repair": 0.5, "rise": 0.5}, "rise": {"repair": 1.0},
    }  # fmt: skip
    assert transitions(["ice"]) == {}
