"""The leader score by hand: every part, what is scaled up when inputs are missing, ranks, themes."""

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.dragon_score import grade_of, score_leaders, themes, with_place_in_theme

N = np.nan
BEST = {
    "code": "600001", "sealed": True, "boards": 5.0, "seal_fund": 3e8, "float_cap": 1e10,
    "first_seal": "09:25:00", "breaks": 0.0, "theme_count": 8.0, "theme_highest": 1.0, "theme_first": 1.0,
    "net_ratio": 0.1, "amount": 9e8, "turnover_pct": 10.0, "ups_20d": 5.0, "broken_5d": 0.0,
}  # fmt: skip
POOR = {
    "code": "600002", "sealed": True, "boards": 1.0, "seal_fund": N, "float_cap": 1.5e9,
    "first_seal": "10:30:00", "breaks": 3.0, "theme_count": N, "theme_highest": N, "theme_first": N,
    "net_ratio": N, "amount": 1e8, "turnover_pct": 30.0, "ups_20d": N, "broken_5d": 1.0,
}  # fmt: skip


def scored(*rows: dict[str, object]) -> pd.DataFrame:
    return score_leaders(pd.DataFrame(list(rows))).set_index("code")


def test_everything_at_its_best_is_a_hundred() -> None:
    best = scored(BEST).loc["600001"]
    assert [best[f"score_{name}"] for name in ("height", "seal", "theme", "capital", "structure")] == [20] * 5
    assert (best["total_score"], best["coverage"], best["grade"], best["rank_no"]) == (100, 1, "S", 1)


def test_missing_inputs_scale_up_what_is_known() -> None:
    poor = scored(BEST, POOR).loc["600002"]
    assert poor["score_height"] == 4
    assert poor["score_seal"] == pytest.approx((0.5 * 6 + 0) / 12 * 20)
    assert np.isnan(poor["score_theme"])
    assert poor["score_capital"] == pytest.approx((0.5 * 6 + 0.5 * 6) / 12 * 20)
    assert poor["score_structure"] == pytest.approx((0.6 * 8 + 0) / 14 * 20)
    whole = (4 + 5 + 10 + 0.6 * 8 / 14 * 20) / 80 * 100
    assert poor["total_score"] == pytest.approx(whole)
    assert poor["coverage"] == pytest.approx((20 + 12 + 0 + 12 + 14) / 100)
    assert (poor["rank_no"], poor["grade"]) == (2, "D")


def test_the_highest_streak_is_full_and_others_count_against_five_at_least() -> None:
    def boards(*counts: float) -> list[float]:
        rows = [{**BEST, "code": f"60000{at}", "boards": count} for at, count in enumerate(counts)]
        return scored(*rows)["score_height"].tolist()

    assert boards(2, 1) == [8, 4]  # the longest of a day without five boards is no full height
    assert boards(5, 1) == [20, 4]
    assert boards(8, 2) == [20, 5]
    assert boards(0, 0) == [0, 0]


def test_who_lost_the_limit_has_no_points_for_its_seal() -> None:
    left = scored(
        BEST, {**BEST, "code": "600003", "sealed": False, "boards": 0.0, "seal_fund": N, "first_seal": None}
    )
    assert left.loc["600003", "score_seal"] == 0
    assert left.loc["600003", "coverage"] == 1


@pytest.mark.parametrize(
    ("column", "value", "dimension", "points"),
    [
        ("first_seal", "09:26:00", "seal", 18.8), ("first_seal", "11:30:00", "seal", 17.0),
        ("first_seal", "14:00:30", "seal", 15.8), ("first_seal", "14:57:00", "seal", 14.6),
        ("seal_fund", 1.5e8, "seal", 16.0), ("breaks", 1.0, "seal", 18.0),
        ("theme_count", 2.0, "theme", 14.0), ("theme_first", 0.0, "theme", 14.0),
        ("net_ratio", -0.2, "capital", 12.0), ("turnover_pct", 1.9, "capital", 14.0),
        ("turnover_pct", 40.0, "capital", 17.0), ("ups_20d", 2.0, "structure", 16.4),
        ("broken_5d", 2.0, "structure", 14.0), ("float_cap", 6e10, "structure", 13.6),
        ("float_cap", 3e10, "structure", 16.0),
    ],
)  # fmt: skip
def test_each_step(column: str, value: object, dimension: str, points: float) -> None:
    row = scored({**BEST, column: value}).iloc[0]
    assert row[f"score_{dimension}"] == pytest.approx(points)


def test_equal_totals_are_ranked_by_amount_then_code() -> None:
    rows = [
        {**BEST, "code": code, "amount": amount}
        for code, amount in (("600003", 1e8), ("600002", 1e8), ("600001", 1e8))
    ]
    assert scored(*rows)["rank_no"].to_dict() == {"600001": 1, "600002": 2, "600003": 3}


def test_grades() -> None:
    assert [grade_of(score) for score in (80, 79.9, 65, 50, 35, 34.9, N)] == [
        "S", "A", "A", "B", "C", "D", None,
    ]  # fmt: skip


def members(**blocks: str) -> pd.DataFrame:
    rows = [(name, code) for name, codes in blocks.items() for code in codes.split()]
    return pd.DataFrame(rows, columns=["block_name", "code"])


def test_the_theme_is_the_block_with_the_most_limit_ups() -> None:
    every = " ".join(f"3{at:05d}" for at in range(301))
    blocks = members(robots="a b x y", chips="a b", bank="c z", margin=f"a b c {every}")
    industries = {"a": "machines", "b": "machines", "c": "finance", "d": "finance", "e": "paper"}

    found = themes(blocks, {"a", "b", "d", "c"}, set("abcde"), industries).set_index("code")

    # Two each: the smaller block. `margin` has too many members to be a theme.
    assert found["theme"].to_dict() == {
        "a": "chips", "b": "chips", "c": "finance", "d": "finance", "e": "paper",
    }  # fmt: skip
    assert found["theme_count"].tolist() == [2, 2, 2, 2, 0]
    assert found["theme_rank"].tolist() == [1, 1, 1, 1, 3]


def test_a_stock_without_block_and_industry_has_no_theme() -> None:
    assert themes(members(), {"a"}, {"a"}, {}).empty


def test_the_place_in_a_theme() -> None:
    rows = pd.DataFrame(
        {
            "code": list("abcde"),
            "sealed": [True, True, False, True, True],
            "boards": [3.0, 1.0, 0.0, 1.0, 1.0],
            "first_seal": ["10:00:00", "09:25:00", None, None, "09:30:00"],
            "theme": ["chips", "chips", "chips", "chips", None],
        }
    )
    found = with_place_in_theme(rows)
    np.testing.assert_array_equal(found["theme_highest"].to_numpy(dtype=float), [1, 0, 0, 0, N])
    np.testing.assert_array_equal(found["theme_first"].to_numpy(dtype=float), [0, 1, 0, N, N])
