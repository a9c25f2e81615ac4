"""The trade calendar from its sources: what counts as published, who is believed, and what stays."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from resources.warehouse.stored import ANY
from simulated_market import arrangements
from simulated_market.world.loader import load_world
from tests.pipeline.conftest import Services, opened_services

TABLE = "ref_trade_calendar"
AWAY = {"kind": "reset"}


def load(services: Services, at: str) -> Any:
    services.clock.at = datetime.fromisoformat(at)
    services.fresh()
    return services.fuse("trade_calendar")


def row(services: Services, day: str, market: str = "CN") -> dict[str, Any]:
    (found,) = services.warehouse.rows(TABLE, ANY.date == day, ANY.market == market)
    return dict(found)


@pytest.fixture
def longer_spring(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arrangement that the rules do not give: closed on 2027-02-04 as well, open on 2027-05-05."""

    def closed(year: int) -> list[str]:
        days = set(original(year))
        return sorted((days | {"2027-02-04"}) - {"2027-05-05"}) if year == 2027 else sorted(days)

    original = arrangements.closed_days
    for module in ("exchanges.szse", "tdx.files"):
        monkeypatch.setattr(f"simulated_market.{module}.closed_days", closed)


def test_an_undecided_year_is_provisional_until_its_arrangement_is_out(
    services: Services, longer_spring: None
) -> None:
    """In August the exchange's months of the next year have all weekdays open, and the terminal lists a few
    of its days."""
    load(services, "2026-08-21T16:00")
    assert {row(services, day)["is_confirmed"] for day in ("2026-01-05", "2026-12-31")} == {True}
    before = row(services, "2027-02-04")
    assert (before["is_open"], before["is_confirmed"], before["src"]) == (True, False, "rules")
    assert row(services, "2027-02-08")["holiday_name"] == "春节"
    assert not row(services, "2027-02-08")["is_open"]

    load(services, "2026-11-09T16:00")

    after = row(services, "2027-02-04")
    assert (after["is_open"], after["is_confirmed"], after["src"]) == (False, True, "szse")
    assert after["corrected_on"] == "2026-11-09"
    assert row(services, "2027-02-03")["next_trade_date"] == "2027-02-15"
    assert row(services, "2027-05-05")["is_open"] is True
    assert row(services, "2028-01-03")["is_confirmed"] is False


def test_with_every_upstream_dead_the_shipped_days_and_the_rules_are_there(services: Services) -> None:
    services.faults.replace([{"upstream": "*", **AWAY}])

    load(services, "2027-01-05T16:00")

    assert row(services, "2026-12-31")["is_confirmed"] is True
    coming = row(services, "2027-01-05")
    assert (coming["is_open"], coming["is_confirmed"], coming["src"]) == (True, False, "rules")
    assert services.warehouse.rows(TABLE, ANY.date == "2029-01-05", ANY.market == "CN")


def test_a_published_day_stays_so_while_nobody_answers(services: Services, longer_spring: None) -> None:
    load(services, "2026-11-09T16:00")
    services.faults.replace([{"upstream": "*", **AWAY}])

    load(services, "2026-11-16T16:00")

    kept = row(services, "2027-02-04")
    assert (kept["is_open"], kept["is_confirmed"], kept["src"]) == (False, True, "szse")


def test_sources_that_disagree_leave_a_record_and_the_exchange_is_believed(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = arrangements.closed_days
    monkeypatch.setattr(
        "simulated_market.tdx.files.closed_days",
        lambda year: [day for day in original(year) if day != "2026-10-07"],
    )

    load(services, "2026-08-21T16:00")

    day = row(services, "2026-10-07")
    assert (day["is_open"], day["src"], day["disputed_by"]) == (False, "szse", "tdx")
    records = services.warehouse.rows("sys_quality_record", ANY.table_name == TABLE)
    assert {record["check_name"] for record in records} == {"sources_agree"}


def test_the_dates_of_index_bars_settle_the_past(warehouse_url: str, tmp_path: Path) -> None:
    """Of a year that no calendar has: the exchange and the terminal's file are away."""
    world = load_world("synthetic", "S", until=2027)
    with opened_services(warehouse_url, tmp_path, world) as services:
        services.faults.replace(
            [{"upstream": "szse", **AWAY}, {"upstream": "tdx", "call": "file*", "kind": "dead"}]
        )
        load(services, "2027-02-19T16:00")

        facts = {
            day: (known["is_open"], known["is_confirmed"], known["src"])
            for day in ("2027-01-04", "2027-02-08", "2027-02-19", "2027-02-22")
            for known in [row(services, day)]
        }

    assert facts == {
        "2027-01-04": (True, True, "index_bars"),
        "2027-02-08": (False, True, "index_bars"),
        "2027-02-19": (True, True, "index_bars"),
        "2027-02-22": (True, False, "rules"),
    }


def test_hong_kong_and_new_york_have_rows(services: Services) -> None:
    load(services, "2026-08-21T16:00")

    holiday = row(services, "2026-10-19", "HK")  # the day after the Chung Yeung Festival
    assert (holiday["is_open"], holiday["next_trade_date"]) == (False, "2026-10-20")
    eve = row(services, "2026-12-24", "HK")
    assert (eve["is_open"], eve["is_half_day"], eve["is_confirmed"]) == (True, True, True)
    thanksgiving = row(services, "2027-11-25", "US")
    assert (thanksgiving["is_open"], thanksgiving["is_confirmed"]) == (False, False)
