"""Dividends: a plan that becomes its implementation, days of notice far behind the plan, the ex-right events
of the terminal with them, and what was known when."""

from datetime import datetime

import pandas as pd
import pytest

from platform_assets.datasets._notices import spans
from platform_assets.datasets.dividend import carried_out
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.on_demand import download
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

PORT = "601302"
"""Planned on 2026-06-15, decided in July, implemented on 2026-08-14, ex-date 2026-08-24."""
PLANNED, NOTICED, EX_DATE = "2026-06-15", "2026-08-14", "2026-08-24"
PORTAL_DOWN = {"upstream": "eastmoney", "call": "report", "kind": "status", "args": {"code": 503}}
RAWS = ("raw_dividend", "aux_bonus")


@pytest.fixture
def services(alone: Services) -> Services:
    """One engine is enough here; what both must do alike is in test_company_notices."""
    return alone


def load(services: Services, *dates: str) -> Loaded:
    for name in RAWS:
        services.raw(name, *dates)
    services.stage("dividend", *dates)
    return services.fuse("dividend", *dates)


def year(services: Services) -> list[str]:
    return services.run.calendar.last(250, TODAY)


def row_of(services: Services, code: str = PORT, as_of: str | None = None) -> dict[str, object] | None:
    found = services.warehouse.rows("fusion_dividend", ANY.code == code, ANY.ann_date == PLANNED, as_of=as_of)
    return found[0] if found else None


def test_an_ex_date_that_the_terminal_does_not_know_is_marked(services: Services) -> None:
    services.fuse("exright", *services.run.calendar.last(2, TODAY))
    for name in RAWS:
        services.raw(name, *year(services))
    with services.warehouse.engine.begin() as connection:
        victim = connection.exec_driver_sql(
            "SELECT code FROM raw_dividend WHERE ex_date IS NOT NULL AND ex_date<='2026-08-01' ORDER BY code"
        ).first()[0]
        for table in RAWS:
            connection.exec_driver_sql(f"UPDATE {table} SET ex_date='2026-08-05' WHERE code='{victim}'")
    services.stage("dividend", *year(services))
    services.fuse("dividend", *year(services))

    rows = services.warehouse.frame("fusion_dividend").set_index("code")
    marked = set(rows[rows["quality"] == "warning"].index)
    assert marked == {victim}
    assert "ex_date_has_event" in str(rows.loc[[victim], "quality_flags"].iloc[0])


def test_a_plan_becomes_its_implementation_and_stays_known_as_a_plan(services: Services) -> None:
    services.at(PLANNED)
    load(services, PLANNED)
    plan = row_of(services)
    assert plan is not None
    assert (plan["progress"], plan["ex_date"], plan["record_date"]) == ("预案", None, None)
    assert str(plan["valid_from"])[:16] == f"{PLANNED} 00:00"

    services.at(NOTICED)
    written = load(services, NOTICED)

    row = row_of(services)
    assert row is not None
    assert (row["progress"], row["ex_date"], row["record_date"]) == ("实施方案", EX_DATE, TODAY)
    assert row["bonus_rmb"] == plan["bonus_rmb"]
    assert written.results[-1].rows_superseded >= 1
    before = row_of(services, as_of=f"{NOTICED} 15:00:00.000000")
    assert before is not None
    assert (before["progress"], before["ex_date"]) == ("预案", None)


def test_an_implementation_that_is_seen_first_was_not_known_with_its_plan(services: Services) -> None:
    """A load of the past must not show an ex-date to a read as of a time before its notice."""
    load(services, NOTICED)

    row = row_of(services)
    assert row is not None
    assert str(row["valid_from"])[:16] == f"{NOTICED} 00:00"
    assert row_of(services, as_of="2026-08-13 23:59:59.000000") is None


def test_a_load_goes_on_with_the_codes_that_it_wrote(services: Services) -> None:
    load(services, *year(services))
    stored = len(services.warehouse.frame("fusion_dividend"))
    services.fresh()
    services.at("2026-08-24")

    staged = services.stage("dividend", "2026-08-24")
    fused = services.fuse("dividend", "2026-08-24")

    assert [len(part.preview) for part in (staged, fused)] == [0, 0]
    assert fused.results[-1].rows_in == 0
    assert len(services.warehouse.frame("fusion_dividend")) == stored


def test_without_the_portal_the_terminal_tells_the_ex_date_of_a_plan(services: Services) -> None:
    services.at(PLANNED)
    services.master(PLANNED)
    load(services, PLANNED)
    services.at(EX_DATE)
    services.faults.replace([PORTAL_DOWN])

    raw = services.raw("raw_dividend", EX_DATE)
    services.stage("dividend", EX_DATE)
    services.fuse("dividend", EX_DATE)

    assert [item["src"] for item in raw.sources if item.get("error")] == ["eastmoney"]
    row = row_of(services)
    assert row is not None
    assert (row["ex_date"], row["record_date"], row["progress"]) == (EX_DATE, None, "预案")
    assert row["src"] == "eastmoney"
    patterns = dict(services.warehouse.query("SELECT id, pattern FROM sys_provenance"))
    assert '"tdx":["ex_date"]' in patterns[row["provenance"]]


def test_a_download_of_a_code_brings_its_whole_past_and_nothing_to_come(services: Services) -> None:
    services.clock.at = datetime.fromisoformat("2026-08-13T15:45")

    reported = download(services.run, [PORT], ["dividend", "aux_bonus"], "2026-08-13")

    rows = services.warehouse.frame("fusion_dividend")
    assert reported["types"]["dividend"]["codes"][PORT]["total"] == len(rows) >= 2
    assert reported["fusion"]["results"]["dividend"] == {"status": "success", "saved": len(rows)}
    assert rows.set_index("ann_date").loc[PLANNED, "progress"] == "股东大会通过"
    assert rows.set_index("ann_date").loc[PLANNED, "ex_date"] is None


def test_requests_of_a_long_range_are_quarters() -> None:
    assert spans("2026-01-01", "2026-01-01") == [("2026-01-01", "2026-01-01")]
    parts = spans("2025-08-01", "2026-08-21")
    assert len(parts) == 5
    assert (parts[0][0], parts[-1][1]) == ("2025-08-01", "2026-08-21")
    assert [last for _, last in parts[:-1]] < [first for first, _ in parts[1:]]


def test_an_event_carries_out_the_plan_that_it_equals() -> None:
    plans = pd.DataFrame(
        {
            "code": "600000",
            "report_period": ["2025-12-31", "2026-06-30"],
            "ann_date": ["2026-03-01", "2026-07-01"],
            "src": "eastmoney",
            "name": "样本",
            "ex_date": None,
            "bonus_rmb": [1.5, 1.5],
            "transfer_ratio": [None, None],
            "bonus_ratio": [2.0, None],
        }
    )
    events = pd.DataFrame(
        {
            "code": "600000",
            "date": ["2026-02-01", "2026-06-10", "2026-08-10"],
            "cash_per10": 1.5,
            "bonus_per10": [2.0, 2.0, 0.0],
        }
    )

    found = carried_out(plans, events).set_index("report_period")["ex_date"]

    assert found.to_dict() == {"2025-12-31": "2026-06-10", "2026-06-30": "2026-08-10"}
    assert carried_out(plans, events.assign(cash_per10=1.4)).empty
