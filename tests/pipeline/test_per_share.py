"""Ratios with all their decimals, and what a share earned and is worth, recomputed from the reports."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from platform_assets.datasets._per_share import REPORTS, per_share
from platform_assets.datasets.valuation import DATASET, add_per_share
from platform_assets.pipeline.fusion_rules import fuse

KEY = ("code", "date")


def report(period: str, announced: str, profit: float, bvps: float) -> dict[str, Any]:
    return {
        "code": "600001", "report_period": period, "ann_date": announced, "net_profit": profit, "bvps": bvps,
        "quality": "ok",
    }  # fmt: skip


STORED = [
    report("2024-12-31", "2025-04-20", 100e6, 5.0),
    report("2025-06-30", "2025-08-20", 40e6, 5.2),
    report("2025-12-31", "2026-04-20", 120e6, 5.6),
    report("2026-06-30", "2026-08-20", 70e6, 6.0),
]
SHARES = [
    {"code": "600001", "date": "2010-01-04", "total_after": 100e6},
    {"code": "600001", "date": "2026-07-10", "total_after": 200e6},
]


def context_of(*days: str, flagged: str = "") -> Any:
    stored = [{**one, "quality": "warning"} if one["report_period"] == flagged else one for one in STORED]
    tables = {REPORTS: pd.DataFrame(stored), "ref_exright": pd.DataFrame(SHARES)}

    def read(table: str, **_how: Any) -> pd.DataFrame:
        return tables[table].copy()

    return SimpleNamespace(read=read, scope=SimpleNamespace(until=days[-1]))


def reported(*days: str, flagged: str = "") -> pd.DataFrame:
    rows = pd.DataFrame({"code": "600001", "date": list(days)})
    return per_share(rows, context_of(*days, flagged=flagged))[["eps_ttm", "bvps"]]


def test_twelve_months_of_profit_by_the_shares_of_the_date() -> None:
    found = reported("2026-05-06", "2026-08-19", "2026-08-20")

    assert found["eps_ttm"].tolist() == pytest.approx([120 / 100, 120 / 200, (70 + 120 - 40) / 200])


def test_the_book_value_of_the_newest_report_follows_a_bonus_issue() -> None:
    found = reported("2026-07-09", "2026-07-10", "2026-08-20")

    # 1 for 1 on 10 July: figures of one share in earlier reports are those of two now.
    assert found["bvps"].tolist() == pytest.approx([5.6, 2.8, 3.0])


def test_a_flagged_report_gives_nothing_and_no_older_one_is_used() -> None:
    newest = reported("2026-05-06", "2026-08-20", flagged="2026-06-30")
    base = reported("2026-08-20", flagged="2025-06-30")

    assert newest["eps_ttm"].tolist() == pytest.approx([1.2, float("nan")], nan_ok=True)
    assert newest["bvps"].tolist() == pytest.approx([5.6, float("nan")], nan_ok=True)
    # A year before that is flagged spoils the twelve months, not the book value.
    assert base["eps_ttm"].isna().all()
    assert base["bvps"].tolist() == pytest.approx([3.0])


def test_ratios_are_used_for_a_missing_report_but_not_for_a_flagged_one() -> None:
    rows = pd.DataFrame(
        {"code": "600001", "date": ["2025-01-06", "2026-08-20"], "price": 10.0, "pe_ttm": 20.0, "pb": 4.0,
         "eps_fy1": 1.0}
    )  # fmt: skip
    made = add_per_share(rows, context_of("2026-08-20", flagged="2026-06-30"))

    assert made["eps_ttm"].tolist() == pytest.approx([0.5, float("nan")], nan_ok=True)
    assert made["bvps"].tolist() == pytest.approx([2.5, float("nan")], nan_ok=True)


def test_before_the_first_report_there_is_nothing() -> None:
    assert reported("2025-01-06").isna().all(axis=None)


@pytest.mark.parametrize(
    ("site", "portal", "kept", "src"),
    [
        (6.92, 6.918734, 6.918734, "eastmoney"),  # the same figure, rounded
        (6.92, 6.925, 6.925, "eastmoney"),
        (6.92, 6.97, 6.92, "tencent"),  # another figure: the first source is kept
        (6.92, None, 6.92, "tencent"),
        (None, 6.918734, 6.918734, "eastmoney"),
    ],
)
def test_the_finer_source_of_a_ratio(site: Any, portal: Any, kept: float, src: str) -> None:
    rows = pd.DataFrame(
        [
            {"code": "600001", "date": "2026-08-21", "src": "tencent", "price": 10.0, "pe_ttm": site},
            {"code": "600001", "date": "2026-08-21", "src": "eastmoney", "price": 10.0, "pe_ttm": portal},
        ]
    )
    rows["pe_ttm"] = rows["pe_ttm"].astype(float)

    fused = fuse(rows, KEY, DATASET.order, DATASET.fuse).frame.iloc[0]

    assert fused["pe_ttm"] == kept
    taken = fused["provenance"] or ""
    assert (src == fused["src"]) or ("pe_ttm" in taken and src in taken)
