"""`make real-day` on the committed slice: twelve codes, the same window, both engines."""

from dataclasses import replace

import pytest

from resources.warehouse.stored import ANY
from tests.real_day import scenarios
from tests.real_day.adjusted import compare_adjusted
from tests.real_day.compare import compare_all, compare_stored, read_stored
from tests.real_day.conftest import SLICE
from tests.real_day.figures import counts, run_section, set_section
from tests.real_day.findings import Section
from tests.real_day.services import RealDay
from tests.real_day.truth import Truth
from tests.real_day.window import Window

TODAY = "2022-07-29"
HELD = {
    "dates": 61,
    "codes": 12,
    "rows": 672,
    "ex-right days": 9,
    "cuts of more than 15 %": 4,
    "suspended rows": 12,
    "rows under special treatment": 61,
    "rows without limits": 1,
}
"""The window of the slice, counted when it was cut."""


def holds(section: Section) -> None:
    assert section.findings
    assert "\n".join(line for finding in section.failed for line in finding.lines()) == ""


def test_every_value_equals_the_files_after_its_wire(day: RealDay, truth: Truth) -> None:
    section = compare_all(day.warehouse, truth, TODAY)

    holds(section)


def test_the_set_is_described_in_its_own_figures(truth: Truth, window: Window) -> None:
    assert (window.since, window.until, window.today) == ("2022-05-05", "2022-07-28", TODAY)
    assert f"{window.now}" == "2022-07-29 15:45:00"
    assert {name: count for name, count in counts(truth).items() if name in HELD} == HELD
    assert set_section(SLICE, window, truth).notes[-1] == "absent, and not needed: nothing"


WRONG = {
    "close": 2_000.01,
    "last_close": 2_000.01,
    "volume": 3_703_236,
    "amount": 7_028_415_880.69,
    "limit_up": 2_000.01,
    "limit_status": "up",
    "is_suspended": 1,
    "adj_factor": 1.5,
}
"""Per column what a wrong row could hold; volume and amount are the file's own, to the unit."""


@pytest.mark.parametrize("column", list(WRONG))
def test_one_wrong_value_is_seen(day: RealDay, truth: Truth, column: str) -> None:
    stored = read_stored(day.warehouse, truth, TODAY)
    key = ("sh600519", TODAY)
    bars = {**stored.bars, key: {**stored.bars[key], column: WRONG[column]}}

    section = compare_stored(replace(stored, bars=bars), truth)

    shown = [line for finding in section.failed for line in finding.detail]
    assert any("sh600519" in line or "marked suspended" in line for line in shown), column


def test_one_wrong_name_is_seen(day: RealDay, truth: Truth) -> None:
    stored = read_stored(day.warehouse, truth, TODAY)
    spans = [{**span, "is_st": False} for span in stored.names["sh600515"]]

    section = compare_stored(replace(stored, names={**stored.names, "sh600515": spans}), truth)

    (failed,) = section.failed
    assert failed.figure.startswith("611 of 672 equal")


def test_no_name_is_taken_back_from_the_day_of_the_first_look(day: RealDay) -> None:
    """600515 was under special treatment since 2021-02-19, says the list of former names."""
    rows = day.warehouse.rows("ref_name_history", ANY.code == "600515", order=["valid_from"])

    assert [(row["valid_from"], row["valid_to"], row["name"]) for row in rows][-3:] == [
        ("2012-09-03", "2016-01-28", "海岛建设"),
        ("2016-01-29", "2021-02-18", "海航基础"),
        ("2021-02-19", None, "ST海南机场"),
    ]


def test_the_runs_report_rows_calls_and_reasons(day: RealDay) -> None:
    section = run_section(day, day.runs[-3:])

    holds(section)
    assert any("fusion_kline_daily" in note for note in section.notes)


def test_adjusted_prices_are_products_of_last_close_by_preclose(day: RealDay, truth: Truth) -> None:
    section = Section("adjusted")
    compare_adjusted(day, truth, section)

    holds(section)


def test_early_dates_asked_again_leave_quarters_and_years_as_they_are(day: RealDay) -> None:
    """Made of months: one that was just made of days and one that was stored have the same decimals."""
    before = day.warehouse.frame("fusion_kline_bar")

    run = day.run("history", day.window.since, day.window.dates[2])

    rows = day.warehouse.query(
        "SELECT rows_written, rows_unchanged FROM sys_batch WHERE run_id=? AND table_name='fusion_kline_bar' "
        "AND parent_batch_id IS NULL",
        (run.run_id,),
    )
    assert [written for written, _ in rows] == [0]
    assert sum(unchanged for _, unchanged in rows) > 0
    assert set(before["period"]) >= {"month", "quarter"}


@pytest.mark.soak
def test_a_day_asked_twice_writes_nothing(day: RealDay) -> None:
    holds(scenarios.second_run(day))


def test_a_corrected_bar_is_one_revision_and_both_states_stay_readable(day: RealDay, truth: Truth) -> None:
    holds(scenarios.correction(day, truth))
