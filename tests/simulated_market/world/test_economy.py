"""Series of the year so far are made of their months, changes of the amounts next to them."""

from datetime import datetime

import pytest

from simulated_market.eastmoney.conditions import Conditions
from simulated_market.eastmoney.monthly import MONTHLY, rows_of
from simulated_market.wire import View

NOW = datetime(2026, 11, 20, 16, 30)


@pytest.fixture(scope="module")
def reported(world):
    """Report -> month -> row."""
    view = View(world, NOW)
    return {
        name: {row["REPORT_DATE"][:7]: row for row in rows_of(name, report)(view, Conditions())}
        for name, report in MONTHLY.items()
    }


@pytest.mark.parametrize(
    ("report", "year", "month"),
    [
        ("RPT_ECONOMY_RMB_LOAN", "RMB_LOAN_ACCUMULATE", "RMB_LOAN"),
        ("RPT_ECONOMY_CUSTOMS", "EXIT_ACCUMULATE", "EXIT_BASE"),
        ("RPT_ECONOMY_CUSTOMS", "IMPORT_ACCUMULATE", "IMPORT_BASE"),
        ("RPT_ECONOMY_ASSET_INVEST", "BASE_ACCUMULATE", "BASE"),
    ],
)
def test_the_year_so_far_is_the_sum_of_its_months(reported, report, year, month):
    rows = reported[report]
    assert len(rows) > 200
    for period, row in rows.items():
        parts = [rows[f"{period[:4]}-{one:02d}"][month] for one in range(1, int(period[5:]) + 1)]
        assert row[year] == pytest.approx(sum(parts), abs=0.06)


def test_indices_of_the_year_begin_with_january(reported):
    for report, year, month in (
        ("RPT_ECONOMY_CPI", "NATIONAL_ACCUMULATE", "NATIONAL_BASE"),
        ("RPT_ECONOMY_PPI", "BASE_ACCUMULATE", "BASE"),
        ("RPT_ECONOMY_INDUS_GROW", "BASE_ACCUMULATE", "BASE_SAME"),
    ):
        january = [row for period, row in reported[report].items() if period.endswith("-01")]
        assert all(row[year] == row[month] for row in january)


def test_a_year_of_the_economy_grows_quarter_by_quarter(reported):
    rows = reported["RPT_ECONOMY_GDP"]
    for period, row in rows.items():
        before = rows.get(f"{period[:5]}{int(period[5:]) - 3:02d}")
        if before is not None:
            assert row["DOMESTICL_PRODUCT_BASE"] > before["DOMESTICL_PRODUCT_BASE"]
        year = rows.get(f"{int(period[:4]) - 1}{period[4:]}")
        if year is not None:
            grown = (row["DOMESTICL_PRODUCT_BASE"] / year["DOMESTICL_PRODUCT_BASE"] - 1) * 100
            assert row["SUM_SAME"] == pytest.approx(grown, abs=0.06)


def test_changes_are_those_of_the_amounts(reported):
    rows = reported["RPT_ECONOMY_CURRENCY_SUPPLY"]
    for period, row in rows.items():
        before = rows.get(f"{int(period[:4]) - 1}{period[4:]}")
        if before is not None:
            grown = (row["BASIC_CURRENCY"] / before["BASIC_CURRENCY"] - 1) * 100
            assert row["BASIC_CURRENCY_SAME"] == pytest.approx(grown, abs=0.06)
