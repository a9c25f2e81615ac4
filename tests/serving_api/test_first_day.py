"""A first start on an empty folder, as `make run` does it: what it shows when the first load is over.

On other days of the year: `make soak` (tests/soak/test_first_days.py), or `FIRST_DAY=2026-11-20T20:00` here.
"""

import os
from collections.abc import Iterator

import pytest

from core.declaration.registry import builtin_registry
from tests.serving_api.first_day import (
    CALCULATED,
    DATES,
    LONGER,
    SAYS_WHY,
    WARM_UP,
    FirstDay,
    first_day,
)

EVENING = "2026-08-21T20:00"
"""A Friday after the last task that the day's tables wait for."""


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstDay]:
    with first_day(tmp_path_factory.mktemp("first_day"), os.environ.get("FIRST_DAY", EVENING)) as running:
        yield running


def test_the_first_load_fails_in_nothing(day: FirstDay) -> None:
    assert day.loads() == {"initial_load": ("success", None), "calculations": ("success", None)}


def test_nothing_is_empty_but_by_nature(day: FirstDay) -> None:
    found = day.walk()

    assert [one.looked_at > 40 for one in found] == [True] * 4
    assert {one.kind: one.unexplained for one in found} == {one.kind: [] for one in found}
    assert day.documented.denied == {}, "answers that the OpenAPI document denies"


@pytest.mark.parametrize("table", CALCULATED)
def test_what_is_calculated_is_there_for_every_loaded_date(day: FirstDay, table: str) -> None:
    bars, reported = day.calculated_dates(table)

    assert bars == DATES
    assert reported >= DATES - WARM_UP.get(table, 1)


@pytest.mark.parametrize("table", list(SAYS_WHY))
def test_a_column_is_filled_or_its_description_says_why_not(day: FirstDay, table: str) -> None:
    empty, excused = day.empty_columns(table)

    assert empty - LONGER <= excused
    # What the words are about is empty indeed: no load of a day has it.
    specs = next(one.columns for one in builtin_registry().tables if one.name == table)
    assert {one.name for one in specs if one.no_source or "by code" in one.title} <= empty


@pytest.mark.parametrize("table", ["track_builtin", "track_preset"])
def test_picks_are_reviewed_where_their_window_has_passed(day: FirstDay, table: str) -> None:
    """Five trade dates after the pick; what rests then is waited for, twenty at most."""
    dates = [date for (date,) in day.query("SELECT DISTINCT date FROM fusion_kline_daily ORDER BY date")]
    open_picks = f"SELECT COUNT(*) FROM {table} WHERE status='pending' AND trade_date<"
    (resting,) = day.query(f"{open_picks}'{dates[-6]}'")
    (waited,) = day.query(f"{open_picks}'{dates[-21]}'")
    (reviewed,) = day.query(f"SELECT COUNT(*) FROM {table} WHERE status='reviewed'")

    assert waited[0] == 0
    assert resting[0] * 20 < reviewed[0]


def test_picks_of_the_dates_before_have_an_outcome(day: FirstDay) -> None:
    overview = day.get("/scorecard/overview", days=30)["items"]

    by_source = {source: sum(row["reviewed"] for row in overview if row["source"] == source) for source in
                 ("builtin", "preset")}  # fmt: skip
    assert all(by_source.values()), by_source


def test_patterns_have_records_and_phases_a_past(day: FirstDay) -> None:
    patterns = [row["key"] for row in day.get("/quant/pattern-catalog")["directions"]]
    records = [day.get("/quant/pattern-performance", pattern=name, days=60) for name in patterns]
    assert any(one["samples"] for one in records)
    assert all((one["win_rate_pct"] is None) == (one["samples"] == 0) for one in records)
    history = day.get("/market/phase-history", days=60)
    assert len(history["rows"]) >= 59
    for phase, following in history["transitions"].items():
        assert following.keys() == history["transition_counts"][phase].keys()
