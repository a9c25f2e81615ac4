"""Tables that several sources bring together: what was brought is stored, what nobody brought is named, and
the date is not complete until it is there. Day report, grid, gaps, freshness and Dagster say the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from resources.warehouse.ledger.missing_partitions import has_dates, table_of
from schedules.commands.worker import Worker
from schedules.services import Services
from schedules.tasks.missing_dates_sensor import GapKeeper
from serving_api.app import create_app
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_dead_families import failures
from tests.definitions.test_empty_partition import materialized
from tests.definitions.test_sync_runs import carried_out, rows
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, bearer, make_settings

EARLIER, BEFORE, DAY = "2026-08-19", "2026-08-20", "2026-08-21"
NOW = f"{DAY}T21:30"
REGISTRY = builtin_registry()


def away(*upstreams: str, call: str = "*") -> list[dict[str, Any]]:
    return [{"upstream": one, "call": call, "kind": "truncate"} for one in upstreams]


@pytest.fixture
def evening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan) -> Iterator[Services]:
    with opened(tmp_path, monkeypatch, faults, now=NOW) as services:
        yield services


@contextmanager
def api_of(folder: Path) -> Iterator[Any]:
    address = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    app = create_app(
        make_settings(folder, warehouse_url=address), clock=FrozenClock(datetime.fromisoformat(NOW))
    )
    with running(app) as api:
        token = bearer(api.post("/auth/login", json=ADMIN).json()["access_token"])
        yield lambda path, **params: api.get(path, params=params, headers=token).json()


def agree(folder: Path, runner: InProcessRuns, table: str, day: str, missing: str) -> None:
    """Every account of the date says that it lacks a part."""
    layer = next(str(one.layer) for one in REGISTRY.tables if one.name == table)
    assert day not in materialized(runner, layer, table)
    with api_of(folder) as get:
        report = {row["table"]: row for row in get("/datamgr/day-report", date=day)["results"]}
        assert report[table]["status"] == "partial"
        reason = report[table]["reason"]
        assert "missing (" in reason
        assert all(part in reason for part in missing.split(", "))
        grid = get("/datamgr/day-grid", days=2)
        cells = {
            row["table"]: dict(zip(grid["dates"], row["statuses"], strict=True)) for row in grid["results"]
        }
        fresh = get("/datamgr/stats/freshness")["results"]["details"]
        if table in cells:
            assert cells[table][day] == "partial"
            if REGISTRY.trade_days[table].partition is Partition.TRADE_DATE:
                assert fresh[table]["latestDate"] != day
        owner = REGISTRY.of_table(table)
        if has_dates(owner) and table_of(owner) == table:
            gaps = get("/datamgr/gaps", dataset=owner.name)["results"]
            assert (day, "partial") in {(one["partition"], one["reason"]) for one in gaps}


@pytest.mark.parametrize(
    ("job", "day", "faults_of", "lacking"),
    [
        # The figures of margin trading come out on the next trade date.
        ("margin", BEFORE, away("szse"), {"exchange_margin": "SZSE"}),
        ("block_trade", BEFORE, away("szse"), {"exchange_block_trade": "SZSE"}),
        (
            "block_trade",
            BEFORE,
            away("eastmoney"),
            {"stg_block_trade": "BSE", "fusion_block_trade": "BSE"},
        ),
        (
            "margin",
            BEFORE,
            away("eastmoney", "bse"),
            {"exchange_margin": "BSE", "stg_margin": "BSE", "fusion_margin": "BSE"},
        ),
        (
            "dragon_tiger",
            BEFORE,
            away("eastmoney", "sse"),
            {"raw_dragon_tiger": "SSE, BSE", "fusion_dragon_tiger": "BSE, SSE"},
        ),
        ("exchange_sync", BEFORE, away("szse"), {"exchange_overview": "SZSE"}),
        ("industry_index_sync", DAY, away("cninfo"), {"raw_industry_valuation": "csrc, cni"}),
        ("limitup_reason_sync", DAY, away("xueqiu"), {"raw_hot_stocks": "xq_follow"}),
        ("market_phase_sync", DAY, away("eastmoney", call="limit_pool"), {"raw_limit_pool": "prev, strong"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_part_that_nobody_brought_is_named_and_its_date_is_not_complete(
    evening: Services,
    faults: FaultPlan,
    runner: InProcessRuns,
    tmp_path: Path,
    job: str,
    day: str,
    faults_of: list[dict[str, Any]],
    lacking: dict[str, str],
) -> None:
    faults.replace(faults_of)

    command = carried_out(evening, runner, job, partition_key=day)

    assert command.status == "failed"
    for table, parts in lacking.items():
        assert rows(evening, f"SELECT COUNT(*) FROM {table}")[0][0] > 0, "what was brought is stored"
        agree(tmp_path, runner, table, day, parts)
        named = rows(
            evening,
            "SELECT natural_key FROM sys_quality_record WHERE check_name='not_served' AND natural_key IS NOT "
            f"NULL AND table_name='{table}' AND partition_key='{day}'",
        )
        assert {key for (key,) in named} == {f'{{"answer":"{part}"}}' for part in parts.split(", ")}
    failed = failures(runner, str(command.run_id))
    fate = runner.fate(str(command.run_id))
    assert fate is not None
    # Where a source was the only one of another table, that is missing as a whole.
    of_parts = all(" missing (" in why for why in failed.values())
    assert fate.lacks_parts == of_parts
    assert all(failed[table].startswith(f"{table}: ") for table in lacking)


def test_the_date_is_complete_when_the_part_is_there(
    evening: Services, faults: FaultPlan, runner: InProcessRuns, tmp_path: Path
) -> None:
    """Asked for by the sensor `gaps`, as every date that is missing."""
    carried_out(evening, runner, "block_trade", partition_key=EARLIER)
    faults.replace(away("eastmoney"))
    carried_out(evening, runner, "block_trade", partition_key=BEFORE)
    agree(tmp_path, runner, "fusion_block_trade", BEFORE, "BSE")

    faults.replace([])
    found = GapKeeper(evening).look(datetime.fromisoformat("2026-08-22T09:00"))
    assert BEFORE in found.asked["block_trade"]
    for file in tmp_path.glob("transport.sqlite3*"):
        file.unlink()  # the host has cooled down since
    # What the backfill of Dagster runs; here is none, so those of the sensor fail.
    args = {"job": "block_trade", "partition_key": BEFORE}
    command = evening.commands.enqueue("run_job", args, requested_by="admin")
    worker = Worker(evening, runner)
    while worker.work_once():
        pass
    command = evening.commands.get(command.id)
    assert command.status == "success", command.error

    assert BEFORE in materialized(runner, "dwd", "fusion_block_trade")
    with api_of(tmp_path) as get:
        gaps = get("/datamgr/gaps", dataset="block_trade")["results"]
        assert BEFORE not in {one["partition"] for one in gaps}
        report = {row["table"]: row["status"] for row in get("/datamgr/day-report", date=BEFORE)["results"]}
    assert report["fusion_block_trade"] == "complete"


def test_a_complete_date_stays_complete_when_a_part_fails_later(
    evening: Services, faults: FaultPlan, runner: InProcessRuns, tmp_path: Path
) -> None:
    carried_out(evening, runner, "block_trade", partition_key=BEFORE)
    faults.replace(away("eastmoney"))
    carried_out(evening, runner, "block_trade", partition_key=BEFORE)

    with api_of(tmp_path) as get:
        gaps = get("/datamgr/gaps", dataset="block_trade")["results"]
        assert BEFORE not in {one["partition"] for one in gaps}
        report = {row["table"]: row["status"] for row in get("/datamgr/day-report", date=BEFORE)["results"]}
    assert report["fusion_block_trade"] == "complete"


@pytest.mark.parametrize(
    ("table", "upstream", "part"),
    [
        ("aux_worth", "ths", "pages of companies"),
        ("raw_index_constituent", "csindex", "csi"),
        ("fusion_macro_indicator", "eastmoney", "RPT_ECONOMY_"),
        ("fusion_macro_release", "eastmoney", "calendar of releases"),
    ],
)
def test_a_table_without_dates_is_not_confirmed_without_a_part(
    evening: Services,
    faults: FaultPlan,
    runner: InProcessRuns,
    tmp_path: Path,
    table: str,
    upstream: str,
    part: str,
) -> None:
    from schedules.code_location import defs

    layer = next(str(one.layer) for one in REGISTRY.tables if one.name == table)
    carried_out(evening, runner, "security_list", partition_key=DAY)
    carried_out(evening, runner, "news", partition_key=DAY)  # reports of brokers name companies
    before = rows(evening, f"SELECT confirmed_at FROM table_version WHERE table_name='{table}'")
    faults.replace(away(upstream))

    made = defs.resolve_implicit_global_asset_job_def()
    result = made.execute_in_process(
        instance=runner.instance, raise_on_error=False, asset_selection=[dg.AssetKey([layer, table])]
    )

    assert not result.success
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    reason = str(failure.step_failure_data.user_failure_data.description)
    assert part in reason
    assert "missing (" in reason
    assert upstream in reason
    assert materialized(runner, layer, table) == {}
    assert rows(evening, f"SELECT confirmed_at FROM table_version WHERE table_name='{table}'") == before
    with api_of(tmp_path) as get:
        report = {row["table"]: row for row in get("/datamgr/day-report", date=DAY)["results"]}
    assert (report[table]["status"], part in report[table]["reason"]) == ("partial", True)
