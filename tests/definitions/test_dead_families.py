"""Each upstream family dead for the whole day, and each scheduled task's job on it, through Dagster: what has
another source completes, everything else names the reason.

The product of both runs in the soak. The normal suite has every family once, each with a job that asks it.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from platform_assets.pipeline.inputs import StoredReads
from platform_assets.task_table import TASKS
from resources.composition import open_platform
from resources.fetch_record import FetchLog
from resources.upstreams.hosts import SITES
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sick_source import carried_out, events, rows
from tests.serving_api.admin.conftest import opened_context

BEFORE, DAY = "2026-08-20", "2026-08-21"
REGISTRY = builtin_registry()
JOBS = [task.key for task in TASKS if task.partitioned and task.timing.timed]
GROUPED = {
    "exchanges": ("sse", "szse", "bse"),
    "indices": ("csindex", "cnindex", "sw"),
    "futures": ("shfe", "ine", "cffex", "dce", "czce", "gfex"),
}
SEARCHES = {"duckduckgo", "tavily"}
"""Asked by chats alone."""
ALONE = {site.upstream for site in SITES.values()} - {one for each in GROUPED.values() for one in each}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    **GROUPED,
    **{name: (name,) for name in ("tdx", *sorted(ALONE - SEARCHES))},
}
SAME_COMPANY = {"em_f10": "eastmoney"}
"""Source of a table -> the upstream whose hosts it asks."""
NOTHING_YET = {
    "raw_northbound": "hkex: no file between",  # the exchange publishes it in the evening
    "raw_risk_goodwill": "balance: no stored balance holds goodwill",  # nobody disclosed one in two days
    "raw_futures": "eastmoney.push2his cuts off after 10 calls",  # of 24 main contracts
    "fusion_industry_index": "no row is left",  # without the day before there is nothing to carry on
}
"""Table -> what its second source rightly says on this day."""
PAIRS = {
    "tdx": "fusion_kline_sync",
    "tencent": "fusion_kline_sync",
    "sina": "fusion_kline_sync",
    "eastmoney": "exchange_sync",
    "exchanges": "exchange_sync",
    "hkex": "exchange_sync",
    "indices": "industry_index_sync",
    "cninfo": "industry_index_sync",
    "ths": "market_phase_sync",
    "xueqiu": "limitup_reason_sync",
    "cls": "news_sync",
}
"""Family -> a job of the normal suite. The others are asked by `fusion_daily_sync` alone, which takes as long
as all of these."""


@dataclass
class Outcome:
    """What a day of jobs left: table -> why it failed, tables that were loaded; and the (reason, run) of each
    failure: the clock stands, so the report may take any of them for the newest."""

    failed: dict[str, str] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    attempts: set[tuple[str, str, str]] = field(default_factory=set)


def dead(family: str) -> list[dict[str, Any]]:
    """Terminal servers know no 403: they answer nothing."""
    kinds: dict[str, dict[str, Any]] = {"tdx": {"kind": "dead"}}
    refusing = {"kind": "status", "args": {"code": 403}}
    return [{"upstream": one, "call": "*", **kinds.get(one, refusing)} for one in FAMILIES[family]]


@contextmanager
def evening(folder: Path, faults: FaultPlan, day: str) -> Iterator[Services]:
    with pytest.MonkeyPatch.context() as patch, opened(folder, patch, faults, now=f"{day}T21:30") as services:
        yield services


def carry_out(services: Services, runner: InProcessRuns, job: str, outcome: Outcome) -> None:
    """One job of the day, whose run and rows say the same of it."""
    command = carried_out(services, runner, job, DAY)
    run_id = str(command.run_id)
    failed = failures(runner, run_id)
    loaded = {name.split("__")[1] for name in events(runner, run_id, dg.DagsterEventType.STEP_SUCCESS)}
    made = {name.split("__")[1] for name in events(runner, run_id, dg.DagsterEventType.ASSET_MATERIALIZATION)}
    planned = runner.instance.get_run_by_id(run_id)
    assert planned is not None
    assert planned.status is (dg.DagsterRunStatus.FAILURE if failed else dg.DagsterRunStatus.SUCCESS)
    assert not made & failed.keys()
    status = "success" if not failed else "partial" if loaded else "failed"
    assert rows(services, f"SELECT status FROM sys_slot WHERE run_id='{run_id}'") == [(status,)]
    assert rows(services, f"SELECT status FROM sys_sync_log WHERE run_id='{run_id}'") == [(status,)]
    assert command.status == ("failed" if failed else "success")
    for name in loaded:
        outcome.failed.pop(name, None)
    outcome.failed |= failed
    outcome.loaded |= loaded
    outcome.attempts |= {(name, why, run_id) for name, why in failed.items()}


def failures(runner: InProcessRuns, run_id: str) -> dict[str, str]:
    """Table -> why its step failed; a step that was not begun has no reason."""
    found = {}
    records = runner.instance.get_records_for_run(run_id, of_type={dg.DagsterEventType.STEP_FAILURE}).records
    for record in records:
        event = record.event_log_entry.dagster_event
        assert event is not None
        about = event.step_failure_data.user_failure_data
        found[str(event.step_key).split("__")[1]] = "" if about is None else str(about.description)
    run = runner.instance.get_run_by_id(run_id)
    assert run is not None
    plan = runner.instance.get_execution_plan_snapshot(str(run.execution_plan_snapshot_id))
    ended = events(runner, run_id, dg.DagsterEventType.STEP_SUCCESS)
    for step in {*plan.step_keys_to_execute} - ended:
        found.setdefault(step.split("__")[1], "")
    return found


def judge(services: Services, outcome: Outcome, family: str) -> None:
    """What failed has no other source, or is made of what failed; and says so."""
    banned = FAMILIES[family]
    platform = open_platform(services.settings)
    try:
        ctx = platform.ctx.view(FetchLog(), read=StoredReads(platform.warehouse))
        for table, why in outcome.failed.items():
            owner = REGISTRY.raws.get(table) or REGISTRY.of_table(table)
            late = Scope((DAY,)).with_late(owner.late, services.calendar)
            serving = [one for one in owner.sources if one.only_when is None or one.only_when(ctx, late)]
            if table.startswith("stg_") or not any(_upstream(one.name) in banned for one in serving):
                assert any(name in why for name in outcome.failed if name != table), (table, why)
                continue
            # What brings other parts of the table is no other source of those that are missing.
            lost = {part for one in serving if _upstream(one.name) in banned for part in one.parts}
            held = {part for one in serving if _upstream(one.name) not in banned for part in one.parts}
            if lost - held and any(part in why and "missing (" in why for part in lost - held):
                continue
            others = [one.name for one in serving if _upstream(one.name) not in banned]
            assert not others or (table in NOTHING_YET and NOTHING_YET[table] in why), (table, others, why)
            silent = [one.name for one in serving if _upstream(one.name) in banned]
            assert all(f"{name}: " in why for name in silent), (table, why)
    finally:
        platform.close()


def _upstream(source: str) -> str:
    return SAME_COMPANY.get(source, source)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a platform that knows the securities."""
    folder = tmp_path_factory.mktemp("listed")
    with evening(folder, FaultPlan(), DAY) as services, in_memory() as runner:
        assert carried_out(services, runner, "security_list", DAY).status == "success"
    return folder


@contextmanager
def in_memory() -> Iterator[InProcessRuns]:
    from schedules.code_location import defs

    with dg.DagsterInstance.ephemeral() as instance:
        yield InProcessRuns(defs, instance)


@contextmanager
def dead_evening(
    family: str, before: Path, folder: Path
) -> Iterator[tuple[Services, InProcessRuns, Outcome]]:
    """The evening of the day, with the files of `before` and a family of upstreams away."""
    shutil.copytree(before, folder, dirs_exist_ok=True)
    faults = FaultPlan()
    faults.replace(dead(family))
    with evening(folder, faults, DAY) as services, in_memory() as runner:
        yield services, runner, Outcome()


@pytest.mark.parametrize("family", PAIRS)
def test_a_job_completes_what_another_source_has(family: str, listed: Path, tmp_path: Path) -> None:
    with dead_evening(family, listed, tmp_path) as (services, runner, outcome):
        carry_out(services, runner, PAIRS[family], outcome)
        judge(services, outcome, family)


# -- the product ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def day_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a platform that loaded the trade date before."""
    folder = tmp_path_factory.mktemp("before")
    with evening(folder, FaultPlan(), BEFORE) as services, in_memory() as runner:
        for job in ("security_list", "whole_day"):
            assert carried_out(services, runner, job, BEFORE).status == "success"
    return folder


@pytest.mark.soak
@pytest.mark.parametrize("family", FAMILIES)
def test_a_day_completes_what_another_source_has(family: str, day_before: Path, tmp_path: Path) -> None:
    with dead_evening(family, day_before, tmp_path) as (services, runner, outcome):
        for job in JOBS:
            carry_out(services, runner, job, outcome)
        judge(services, outcome, family)
        platform = open_platform(services.settings)
        clock = ManualClock(services.clock.now())
        with opened_context(platform.warehouse, tmp_path, clock) as ctx:
            reported(ctx.get("/datamgr/day-report", date=DAY).json(), outcome, family)
        platform.close()


def reported(report: dict[str, Any], outcome: Outcome, family: str) -> None:
    """The report of the day says of every table what Dagster says."""
    told = {row["table"]: row for row in report["results"]}
    assert {table.name for d in REGISTRY.datasets.values() for table in d.tables()} == told.keys()
    lacking = ("failed", "partial")
    assert {name for name, row in told.items() if row["status"] in lacking} == outcome.failed.keys()
    for name in outcome.failed:
        run_id = told[name]["run_url"].rpartition("/")[2]
        reasons = {why for table, why, run in outcome.attempts if (table, run) == (name, run_id)}
        assert any(told[name]["reason"] in why for why in reasons)
    for row in told.values():
        if row["status"] == "fallback":
            assert row["reason"].partition(":")[0] in {one["src"] for one in row["sources"] if one["error"]}
            assert row["second_source"]
    # What needs a look comes first.
    statuses = ["failed", "partial", "held", "fallback", "not_run", "not_due", "empty", "complete"]
    order = [row["status"] for row in report["results"]]
    assert order == sorted(order, key=statuses.index)
    # Who was away is told source by source.
    for name, one in report["by_source"].items():
        if _upstream(name) in FAMILIES[family]:
            assert (one["answered"], bool(one["reason"])) == (0, True), name
