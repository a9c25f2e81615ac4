"""Jobs: one per scheduled task, named by its key, and `history` and `reports` for ranges of dates."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from platform_assets.assets import AssetPlan, asset_key, asset_plans
from platform_assets.calendar_partitions import trade_dates
from platform_assets.declaration.registry import Registry
from platform_assets.declaration.tables import Layer

HISTORY = ("name_history", "exright", "kline_daily", "index_daily", "kline_bar")
"""Datasets that the range load of a new installation fills."""
REPORTS = ("finance_indicator", "holder", "dividend")
"""Datasets whose reports and notices of a range a new installation loads: apart from the bars, which need no
portal."""

CALCULATED_FROM = ("raw_limit_pool", "raw_limitup_reason", "raw_lhb_branch")
"""What the calculations need beside the day's load; their scheduled tasks download it later in the day."""
DAY = "eod_core"
LATER = "freshness_snapshot"
"""The task of calculated tables that look at what the others hold."""

SYNCS = {
    "block_sync": "raw_block_member",
    "index_daily_sync": "fusion_index_daily",
    "kline_bar_sync": "fusion_kline_bar",
}
"""Job -> the one table that it loads, because somebody asked."""
SAMPLE = "breadth_sample"
"""The job that the sensor of the market's breadth asks for."""


def build_jobs(registry: Registry) -> dict[str, Any]:
    """{job name: job}. A task's job selects the assets whose datasets name the task."""
    by_task: dict[str, list[dg.AssetKey]] = {}
    for plan in asset_plans(registry):
        for task in plan.tasks:
            by_task.setdefault(task, []).append(asset_key(plan.table))
    jobs = {
        task: dg.define_asset_job(
            task,
            selection=dg.AssetSelection.assets(*keys),
            partitions_def=trade_dates(),
            tags={"app/task_key": task},
            description=f"assets of the task {task}",
        )
        for task, keys in sorted(by_task.items())
    }
    if DAY in by_task:
        jobs["recent_days"] = dg.define_asset_job(
            "recent_days",
            selection=dg.AssetSelection.assets(*by_task[DAY]),
            partitions_def=trade_dates(),
            description="everything of a few trade dates in one run, before the newest one is loaded",
        )
    tables = [registry.datasets[name].table for name in HISTORY if name in registry.datasets]
    jobs["history"] = dg.define_asset_job(
        "history",
        selection=dg.AssetSelection.assets(*(asset_key(table) for table in tables)),
        partitions_def=trade_dates(),
        description="bars and indices of a range of trade dates",
    )
    reporting = [registry.datasets[name] for name in REPORTS if name in registry.datasets]
    jobs["reports"] = dg.define_asset_job(
        "reports",
        selection=dg.AssetSelection.assets(
            *(asset_key(table) for dataset in reporting for table in dataset.tables())
        ),
        description="what companies disclosed in a range of trade dates: results, holders, dividends",
    )
    plans = {plan.table.name: plan for plan in asset_plans(registry)}
    calculated = [
        plan
        for plan in plans.values()
        if (plan.table.layer is Layer.CALC and plan.tasks and LATER not in plan.tasks)
        or plan.table.name in CALCULATED_FROM
    ]
    jobs["calculations"] = dg.define_asset_job(
        "calculations",
        selection=dg.AssetSelection.assets(*(asset_key(plan.table) for plan in calculated)),
        partitions_def=trade_dates(),
        description="what is calculated from the stored tables of a range of trade dates",
    )
    for job, name in SYNCS.items():
        if name in plans:
            jobs[job] = dg.define_asset_job(
                job,
                selection=dg.AssetSelection.assets(asset_key(plans[name].table)),
                partitions_def=trade_dates() if plans[name].partitioned else None,
                description=f"{name} alone, because somebody asked for it",
            )
    if SAMPLE in registry.datasets:
        jobs[SAMPLE] = dg.define_asset_job(
            SAMPLE,
            selection=dg.AssetSelection.assets(asset_key(registry.datasets[SAMPLE].table)),
            description="how many stocks rise and fall at this moment",
        )
    jobs |= _backfills(registry, plans)
    security_list = [
        plan
        for plan in asset_plans(registry)
        if plan.table.name in {"raw_quote", "stg_stock_master", "fusion_stock_master", "ref_name_history"}
        or plan.table.name == "ref_trade_calendar"
    ]
    jobs["security_list"] = dg.define_asset_job(
        "security_list",
        selection=dg.AssetSelection.assets(*(asset_key(plan.table) for plan in security_list)),
        partitions_def=trade_dates(),
        description="the security master and the calendar, before the first history load",
    )
    return jobs


def _backfills(registry: Registry, plans: Mapping[str, AssetPlan]) -> dict[str, Any]:
    """`backfill_<dataset>`: every table that a load of the dataset writes, for those loaded by date."""
    jobs = {}
    for dataset in registry.datasets.values():
        tables = [*dataset.feeds, *(table.name for table in dataset.tables())]
        if not tables:
            continue
        chosen = [plans[name] for name in dict.fromkeys(tables)]
        main = tables[0] if dataset.model is None else dataset.table_name
        if plans[main].partitioned:
            job = f"backfill_{dataset.name}"
            jobs[job] = dg.define_asset_job(
                job,
                selection=dg.AssetSelection.assets(*(asset_key(plan.table) for plan in chosen)),
                partitions_def=trade_dates(),
                description=f"{dataset.title or dataset.name} of past trade dates",
            )
    return jobs
