"""The grid of watched tables by trade date says what the report of each of these dates says."""

from tests.pipeline.conftest import TODAY
from tests.serving_api.admin.conftest import FetchContext
from tests.serving_api.admin.test_day_report import BEFORE, FUSED, PERIODS, ended, row


def test_each_cell_is_the_status_in_the_report_of_its_date(bare: FetchContext) -> None:
    ended(bare, FUSED, TODAY, status="failed")
    for day in ("2026-08-17", "2026-08-18", "2026-08-19"):
        ended(bare, FUSED, day, at=f"{BEFORE} 09:00:00", rows=10)
    ended(bare, FUSED, "2017-03-01", at=f"{TODAY} 16:00:00", rows=3000)
    ended(bare, "calc_chip_daily", BEFORE, at=f"{BEFORE} 17:00:00", rows=5000)
    ended(bare, "fusion_finance_indicator", "2026-06-30", at=f"{BEFORE} 17:00:00", rows=5)

    grid = bare.get("/datamgr/day-grid", days=5).json()
    assert grid["dates"] == ["2026-08-17", "2026-08-18", "2026-08-19", BEFORE, TODAY]
    cells = {one["table"]: one["statuses"] for one in grid["results"]}
    assert cells[FUSED] == ["complete", "complete", "complete", "not_run", "failed"]
    for table in (FUSED, "calc_chip_daily", "fusion_finance_indicator"):
        assert cells[table] == [row(bare, table, day)["status"] for day in grid["dates"]]
    assert "complete" in cells["fusion_finance_indicator"]
    assert PERIODS not in cells or len(cells[PERIODS]) == 5
    assert bare.get("/datamgr/day-grid", days=61).status_code == 422
