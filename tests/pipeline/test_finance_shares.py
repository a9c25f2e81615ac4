"""Earnings per share against profit and shares: on a real period of the whole market, and swapped."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from platform_assets.datasets._finance_rules import earnings_follow_shares
from simulated_market.world.model import World
from tests.pipeline.corrupted_market import CorrectDay, correct_day, corruption_accepted

NOTICE = "2011-10-31"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[CorrectDay]:
    with correct_day(tmp_path_factory.mktemp("small"), sample_world, ("exright", "finance_indicator")) as day:
        yield day


def test_results_of_another_company_are_refused(small: CorrectDay) -> None:
    """Each company with the results of the next one: those of 600043 fit its own growth by chance."""
    call = next(one for one in small.calls if str(one) == "eastmoney report")
    rows = small.rows["fusion_finance_indicator"].values()

    assert {row["quality"] for row in rows} == {"ok"}
    assert corruption_accepted(small, call, {"kind": "swap_rows", "args": {}}) == ([], True)


# -- a real period -------------------------------------------------------------------------------------


def real_reports(folder: Path) -> pd.DataFrame:
    reported = pd.read_csv(folder / "finance_tdx_2011q3.csv.gz", dtype={"code": str})
    reported = reported[(reported["eps"] != 0) & (reported["net_profit_parent"] != 0)]
    columns = ["code", "report_period", "eps", "total_shares"]
    return (
        reported[columns]
        .assign(net_profit=reported["net_profit_parent"], ann_date=NOTICE)
        .reset_index(drop=True)
    )


def real_changes(folder: Path, reports: pd.DataFrame) -> pd.DataFrame:
    """Capital changes until the notice, and on its day the shares of the report's own file: the
    changes stop at some reverse takeovers of that year."""
    reported = pd.read_csv(folder / "xdxr_1990_2011.csv.gz", dtype={"code": str, "date": str})
    reported = reported[(reported["total_shares_wan"] > 0) & ~reported["code"].str.match("sh00|sz39")]
    days = reported["date"].str.replace(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", regex=True)
    events = pd.DataFrame(
        {"code": reported["code"].str[2:], "date": days, "total_after": reported["total_shares_wan"] * 1e4}
    )
    counted = reports[["code"]].assign(date=NOTICE, total_after=reports["total_shares"])
    return pd.concat([events, counted[counted["total_after"] > 0]], ignore_index=True)


def fine(rows: pd.DataFrame, changes: pd.DataFrame) -> pd.Series:
    def read(_table: str, **asked: Any) -> pd.DataFrame:
        return changes[changes["date"] <= asked["until"]]

    context: Any = SimpleNamespace(read=read, scope=SimpleNamespace(until=NOTICE, codes=None))
    return earnings_follow_shares(rows, context)


def test_one_of_2273_real_reports_is_flagged(real_data_dir: Path) -> None:
    reports = real_reports(real_data_dir)
    flagged = reports[~fine(reports, real_changes(real_data_dir, reports))]

    # 000757 reports 0.0029 CNY a share with a profit of 0.0135: its debt was being turned into shares.
    assert flagged["code"].tolist() == ["000757"]
    assert len(reports) > 2200


def test_most_real_reports_of_another_company_are_flagged(real_data_dir: Path) -> None:
    reports = real_reports(real_data_dir)
    other = reports[["eps", "net_profit"]].shift(-1, fill_value=0.1)
    swapped = reports.assign(eps=other["eps"], net_profit=other["net_profit"])
    reported = swapped["eps"].abs() > 0.05  # less is within the rounding of any company

    caught = ~fine(swapped, real_changes(real_data_dir, reports))[reported]
    assert caught.mean() > 0.6


# -- by hand -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eps", "expected"),
    [
        (1.00, True),
        (0.80, True),  # by the mean of the shares before and after
        (0.50, True),  # by the shares after the bonus issue
        (0.38, True),  # what perpetual bonds take goes before
        (0.30, False),
        (1.20, False),
        (4.00, False),
    ],
)
def test_shares_of_the_year_bound_what_one_earned(eps: float, expected: bool) -> None:
    changes = pd.DataFrame(
        {"code": "600001", "date": ["2009-01-05", "2011-06-01", "2012-01-05"],
         "total_after": [100e6, 200e6, 900e6]}
    )  # fmt: skip
    row = {"code": "600001", "report_period": "2011-09-30", "ann_date": NOTICE, "eps": eps, "net_profit": 1e8}

    assert fine(pd.DataFrame([row]), changes).tolist() == [expected]


@pytest.mark.parametrize("missing", ["eps", "net_profit", "changes"])
def test_what_is_not_known_is_not_flagged(missing: str) -> None:
    changes = pd.DataFrame({"code": ["600001"], "date": ["2009-01-05"], "total_after": [100e6]})
    row = {"code": "600001", "report_period": "2011-09-30", "ann_date": None, "eps": 9.0, "net_profit": 1e8}
    rows = pd.DataFrame([row | ({missing: float("nan")} if missing in row else {})])

    assert fine(rows, changes[:0] if missing == "changes" else changes).tolist() == [True]
