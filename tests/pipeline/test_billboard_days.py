"""On how many dates a code was on the billboard, and what counts as a loaded date of the market."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from core.calendar import shipped_calendar
from platform_assets.datasets._wide_events import billboard
from resources.warehouse.ledger.loads import first_loads
from tests.pipeline.conftest import TODAY, Services

CALENDAR = shipped_calendar()
CODES = pd.Series([f"60000{at}" for at in range(8)])
LISTINGS = "fusion_dragon_tiger"


def counted(listings: list[tuple[str, str]]) -> dict[str, Any]:
    def read(_table: str, *, columns: tuple[str, ...], since: str, until: str) -> pd.DataFrame:
        rows = pd.DataFrame(listings, columns=["date", "code"])
        return rows[rows["date"].between(since, until)][list(columns)]

    reported = billboard(SimpleNamespace(calendar=CALENDAR, read=read), TODAY, CODES)
    return dict(zip(reported["code"], reported["lhb_count_30d"], strict=True))


def test_thirty_dates_are_counted() -> None:
    listed = [(day, code) for day in CALENDAR.last(36, TODAY)[:-1] for code in CODES[:4]]

    found = counted(listed)

    assert (found["600000"], found["600007"]) == (30, 0)


def test_the_history_of_one_code_makes_no_date_of_the_market(alone: Services) -> None:
    """A download of a code brings its listings of a year; the market's date is not loaded by that."""
    with alone.warehouse.engine.begin() as connection:
        for batch, day, ref in (("a", "2026-08-19", "download"), ("b", "2026-08-20", None)):
            connection.exec_driver_sql(
                "INSERT INTO sys_batch (batch_id, table_name, partition_key, trigger_ref, status, "
                "finished_at) VALUES (?, ?, ?, ?, 'success', '2026-08-21 16:00:00')",
                (batch, LISTINGS, day, ref),
            )

    def days(*, whole: bool) -> set[str]:
        loads = first_loads(alone.warehouse.query, [LISTINGS], "2026-08-01", TODAY, whole=whole)
        return set(loads[LISTINGS])

    assert days(whole=True) == {"2026-08-20"}
    assert days(whole=False) == {"2026-08-19", "2026-08-20"}
