"""First starts in other seasons than that of `make test`: nothing is empty but by nature on any of them."""

import sys
from pathlib import Path

import pytest

from tests.serving_api.first_day import CALCULATED, DATES, LONGER, SAYS_WHY, WARM_UP, first_day

pytestmark = pytest.mark.soak


@pytest.mark.parametrize(
    "now",
    [
        "2026-01-15T20:00",  # nobody has reported the year yet
        "2026-03-31T20:00",  # annual reports come, and the day is a quarter's last
        "2026-05-08T20:00",  # after the deadline of annual reports and first quarters
        "2026-11-20T20:00",  # nothing is due, in the middle of a week
        "2026-11-23T10:00",  # in a session, on the first trade date of a week
        "2026-11-23T20:00",  # and after it
    ],
)
def test_a_first_start_shows_the_whole_product(tmp_path: Path, now: str) -> None:
    with first_day(tmp_path, now) as day:
        assert day.loads() == {"initial_load": ("success", None), "calculations": ("success", None)}
        found = day.walk()
        dates = {table: day.calculated_dates(table) for table in CALCULATED}
        columns = {table: day.empty_columns(table) for table in SAYS_WHY}

    assert {one.kind: one.unexplained for one in found} == {one.kind: [] for one in found}
    short = {table for table, (_, there) in dates.items() if there < DATES - WARM_UP.get(table, 1)}
    assert (short, {bars for bars, _ in dates.values()}) == (set(), {DATES})
    unfilled = {table: empty - LONGER - excused for table, (empty, excused) in columns.items()}
    assert unfilled == {table: set() for table in SAYS_WHY}
    sys.stdout.write(f"soak: first start at {now}: {sum(len(one.empty) for one in found)} empty by nature\n")
