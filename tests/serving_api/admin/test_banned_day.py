"""A day on which one upstream family answers 403 from morning to night: what has a second source completes,
and the report of the day says what did not, and why."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from platform_assets.pipeline.whole_day import load_day, steps
from resources.simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services
from tests.serving_api.admin.conftest import FetchContext, opened_context

BEFORE = "2026-08-20"
REGISTRY = builtin_registry()
CALCULATED = ("calc_", "track_", "scorecard_")
TABLES = [name for name in steps(REGISTRY)[0] if not name.startswith(CALCULATED)]
"""Calculated tables ask nobody."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "eastmoney": ("eastmoney",),
    "tencent": ("tencent",),
    "tdx": ("tdx",),
    "exchanges": ("sse", "szse", "bse"),
    "indices": ("csindex", "cnindex", "sw"),
    "futures": ("shfe", "ine", "cffex", "dce", "czce", "gfex"),
    **{name: (name,) for name in ("ths", "sina", "cninfo", "hkex", "cls", "chinabond", "chinamoney")},
}
SAME_COMPANY = {"em_f10": "eastmoney"}
"""Source of a table -> the upstream whose hosts it asks."""
NOTHING_YET = {
    "raw_northbound": "hkex: no file between",  # the exchange publishes it in the evening
    "raw_risk_goodwill": "balance: no stored balance holds goodwill",  # nobody disclosed one in two days
}
"""Table -> what its second source rightly says on this day."""
pytestmark = pytest.mark.soak  # two whole days and more; the report itself is tested in test_day_report


@pytest.fixture(scope="module")
def day_before(tmp_path_factory: pytest.TempPathFactory, world: World) -> Path:
    """The files of a house that loaded the trade date before."""
    folder = tmp_path_factory.mktemp("before")
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    with opened_services(url, folder, world, today=BEFORE) as services:
        assert load_day(services.run, Scope((BEFORE,)), tables=TABLES) == {}
    return folder


@pytest.fixture(params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def services(day_before: Path, tmp_path: Path, world: World) -> Iterator[Services]:
    shutil.copytree(day_before, tmp_path, dirs_exist_ok=True)
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, world) as opened:
        yield opened


def ban(services: Services, upstreams: tuple[str, ...]) -> None:
    """Terminal servers know no 403: they answer nothing."""
    services.faults.replace(
        [
            {
                "upstream": name,
                "call": "*",
                "kind": "dead" if name == "tdx" else "status",
                "args": {"code": 403},
            }
            for name in upstreams
        ]
    )


def others(services: Services, table: str, upstreams: tuple[str, ...]) -> set[str]:
    """Sources of a table that are of no banned upstream and serve the market of a day (some serve single
    codes alone)."""
    raw = REGISTRY.raws.get(table)
    owner = raw or REGISTRY.of_table(table)
    scope = Scope((TODAY,)).with_late(owner.late, services.run.calendar)
    return {
        source.name
        for source in owner.sources
        if SAME_COMPANY.get(source.name, source.name) not in upstreams
        and (source.only_when is None or source.only_when(services.run.ctx, scope))
    }


def test_what_has_a_second_source_completes_and_the_rest_is_reported(
    family: str, services: Services, tmp_path: Path
) -> None:
    upstreams = FAMILIES[family]
    ban(services, upstreams)

    failures = load_day(services.run, Scope((TODAY,)), tables=TABLES)

    left = {table: why for table, why in failures.items() if others(services, table, upstreams)}
    assert {table: why for table, why in left.items() if NOTHING_YET.get(table, "nothing") not in why} == {}
    # Whatever is fused from several tables is fused from those that are there.
    assert [table for table in failures if table.startswith(("stg_", "fusion_"))] == []

    with opened_context(services.warehouse, tmp_path, services.clock) as ctx:
        report = ctx.get("/datamgr/day-report", date=TODAY).json()
        reported(ctx, report, failures, upstreams)


def reported(
    ctx: FetchContext, report: dict[str, Any], failures: Mapping[str, str], banned: tuple[str, ...]
) -> None:
    rows = {row["table"]: row for row in report["results"]}
    assert set(rows) == {table.name for d in REGISTRY.datasets.values() for table in d.tables()}
    assert {name for name, row in rows.items() if row["status"] == "failed"} == set(failures)
    for name, why in failures.items():
        assert rows[name]["reason"] == why
        assert rows[name]["run_url"] is None  # no run of Dagster stands behind it here
    assert all(row["status"] == "not_run" for name, row in rows.items() if name.startswith(CALCULATED))
    for row in rows.values():
        if row["status"] == "fallback":
            assert row["reason"].partition(":")[0] in {one["src"] for one in row["sources"] if one["error"]}
            assert row["second_source"]
        elif row["status"] == "complete":
            assert row["reason"] is None
    totals = report["totals"]
    assert sum(totals.values()) == report["total"] == len(rows)
    assert totals["failed"] == len(failures)
    # What needs a look comes first, and can be had alone.
    order = [row["status"] for row in report["results"]]
    assert order == sorted(order, key=["failed", "fallback", "not_run", "complete"].index)
    alone = ctx.get("/datamgr/day-report", date=TODAY, status="failed").json()
    assert {row["table"] for row in alone["results"]} == set(failures)
    assert alone["totals"] == totals
    # Who was away is told source by source.
    away = {name: one for name, one in report["by_source"].items() if SAME_COMPANY.get(name, name) in banned}
    for name, one in away.items():
        assert (one["answered"], bool(one["reason"])) == (0, True), name
    assert away or "hkex" in banned or not failures


def test_the_report_of_a_day_without_loads_and_wrong_questions(lite: FetchContext) -> None:
    report = lite.get("/datamgr/day-report").json()

    assert report["date"] == TODAY
    assert {row["status"] for row in report["results"]} == {"not_run"}
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
            (row,) = ctx.results("/datamgr/day-report", date=TODAY, status="fallback")
            assert (row["table"], row["reason"].partition(":")[0]) == ("raw_limit_pool", "eastmoney")
            assert [one["src"] for one in row["sources"] if not one["error"]] == ["ths"]
            load(hour, "*")


@pytest.fixture
def services_alone(tmp_path: Path, world: World) -> Iterator[Services]:
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, world) as opened:
        yield opened
