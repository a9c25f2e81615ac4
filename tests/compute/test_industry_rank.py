"""Rotation of industries by hand: quadrants, score, missing flows, sums of members."""

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.industry_rank import compounded, of_members, rank_by_change, with_rotation

N = np.nan


def level(**columns: list[float]) -> pd.DataFrame:
    count = len(columns["chg_5d"])
    return pd.DataFrame({"main_net": [N] * count, "amount_yi": [1.0] * count, **columns})


def test_quadrants_lie_around_the_medians() -> None:
    rows = level(chg_5d=[4, 3, -1, -2, 0], chg_20d=[9, -9, 8, -8, 0])
    assert with_rotation(rows)["quadrant"].tolist() == [
        "leading", "improving", "weakening", "lagging", "leading",
    ]  # fmt: skip
    half = with_rotation(level(chg_5d=[1.0, 2.0, 3.0], chg_20d=[N, 1.0, 2.0]))
    assert half["quadrant"].tolist()[1:] == ["improving", "leading"]
    assert pd.isna(half["quadrant"][0])


def test_the_score_is_the_weighted_rank_of_what_is_known() -> None:
    rows = level(chg_5d=[3, 2, 1], chg_20d=[1, 2, 3], main_net=[1e8, 2e8, 3e8])
    assert with_rotation(rows)["rotation_score"].tolist() == pytest.approx([50, 50, 50])
    without = with_rotation(level(chg_5d=[3, 2, 1], chg_20d=[1, 2, 3]))["rotation_score"]
    assert without.tolist() == pytest.approx([0.5 / 0.8 * 100, 50, 0.3 / 0.8 * 100])
    nothing = with_rotation(level(chg_5d=[N, N], chg_20d=[N, N]))
    assert nothing["rotation_score"].isna().all()
    assert nothing["quadrant"].isna().all()
    assert with_rotation(level(chg_5d=[1.0], chg_20d=[1.0]))["rotation_score"].tolist() == [50]


def test_changes_compound_and_a_missing_date_leaves_nothing() -> None:
    found = compounded(np.array([[10.0, 1.0], [10.0, N]]))
    assert found[0] == pytest.approx(21)
    assert np.isnan(found[1])


def test_ranks() -> None:
    assert rank_by_change(pd.Series([1.0, 3.0, N, 3.0])).fillna(0).tolist() == [3, 1, 0, 2]


def test_sums_of_members() -> None:
    members = pd.DataFrame(
        {
            "industry_code": ["A", "A", "A", "B"],
            "code": ["600002", "600001", "600003", "600004"],
            "name": ["two", "one", "three", "four"],
            "change_pct": [5.0, 5.0, -1.0, None],
            "main_net": [1.0, 2.0, None, None],
            "limit_up_count": [1, 0, 0, None],
        }
    )
    found = of_members(members).set_index("industry_code")
    assert found.loc["A", ["up_count", "down_count", "limit_up_count", "main_net"]].tolist() == [2, 1, 1, 3]
    assert found.loc["A", ["leader_code", "leader_name", "leader_change_pct"]].tolist() == [
        "600001",
        "one",
        5,
    ]
    assert pd.isna(found.loc["B", "leader_code"])
    assert pd.isna(found.loc["B", "main_net"])


def test_counts_of_an_industry_without_a_known_change_are_null() -> None:
    """Quotes of a past date have no change: nobody rose or fell, as far as is known, which is not zero."""
    members = pd.DataFrame(
        {
            "industry_code": ["a", "a", "b", "b"], "code": ["1", "2", "3", "4"], "name": ["N"] * 4,
            "change_pct": [None, None, None, -1.0], "main_net": 1.0, "limit_up_count": 0.0,
        }
    )  # fmt: skip

    found = of_members(members).set_index("industry_code")[["up_count", "down_count"]]

    assert found.loc["a"].isna().all()
    assert found.loc["b"].to_list() == [0, 1]
