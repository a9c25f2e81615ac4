"""The report of a day on which nothing was loaded, and of one that was loaded before its sources went away.
Whole days without a family are played by `tests/definitions/test_dead_families.py`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.declaration.scope import Scope
from platform_assets.pipeline.whole_day import load_day
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services
from tests.serving_api.admin.conftest import FetchContext, opened_context


def test_the_report_of_a_day_without_loads_and_wrong_questions(lite: FetchContext) -> None:
    report = lite.get("/datamgr/day-report").json()

    assert report["date"] == TODAY
    later = {row["table"]: row["reason"] for row in report["results"] if row["status"] == "not_due"}
    assert {row["status"] for row in report["results"] if row["table"] not in later} == {"not_run"}
    assert later["raw_block_trade"] == "published from 2026-08-21 18:00"
    assert all(later.values())
    assert report["by_source"] == {}
    assert lite.get("/datamgr/day-report", status="failed").json()["results"] == []
    for wrong, word in (("2026-08-16", "no trade date"), ("2027-01-04", "future"), ("today", "date")):
        answer = lite.get("/datamgr/day-report", date=wrong)
        assert (answer.status_code, word in answer.json()["detail"]) == (422, True)
    assert lite.get("/datamgr/day-report", status="odd").status_code == 422


def test_what_was_loaded_once_stays_loaded(services_alone: Services, tmp_path: Path) -> None:
    def load(hour: int, *banned: str) -> None:
        rules = [{"upstream": one, "call": "*", "kind": "status", "args": {"code": 403}} for one in banned]
        services_alone.faults.replace(rules)
        services_alone.clock.at = services_alone.clock.at.replace(hour=hour)
        services_alone.fresh()
        load_day(services_alone.run, Scope((TODAY,)), tables=["raw_limit_pool"])

    load(16, "eastmoney")
    with opened_context(services_alone.warehouse, tmp_path, services_alone.clock) as ctx:
        for hour in (17, 18):
            (row,) = ctx.results("/datamgr/day-report", date=TODAY, status="partial")
            assert row["table"] == "raw_limit_pool"
            assert "missing (eastmoney" in row["reason"]
            assert [one["src"] for one in row["sources"] if not one["error"]] == ["ths"]
            load(hour, "*")


@pytest.fixture
def services_alone(tmp_path: Path, world: World) -> Iterator[Services]:
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, world) as opened:
        yield opened
