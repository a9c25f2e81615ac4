"""Jobs: one per scheduled task, named by its key, and `history` and `reports` for ranges of dates."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import dagster as dg

from core.declaration.dataset import DERIVED
from core.declaration.registry import Registry
from core.declaration.rules import Partition
from core.declaration.tables import Layer
from platform_assets.definitions.assets import AssetPlan, asset_key, asset_plans
from platform_assets.definitions.partitions import trade_dates
from platform_assets.pipeline.misplaced_rows import BARS_OF_PERIODS
from resources.warehouse.ledger.loads import CODE_HISTORY

HISTORY = ("name_history", "exright", "exright_item", "kline_daily", "index_daily", "kline_bar")
"""Datasets that the range load of a new installation fills."""
REPORTS = ("finance_indicator", "holder", "dividend", "risk_goodwill")
"""Datasets whose reports and notices of a range a new installation loads: apart from the bars, which need no
portal."""
DISCLOSED = "disclosed"
DISCLOSED_TABLES = ("raw_top_holders", "raw_holding_org", "raw_org_survey", "aux_capital")
"""What comes with reports or after them: between two seasons a single trade date tells little or nothing."""

CALCULATED_FROM = ("raw_limit_pool", "raw_limitup_reason", "raw_lhb_branch")
"""What the calculations need beside the day's load; their scheduled tasks download it later in the day."""
DAY = "eod_core"
WHOLE_DAY = "whole_day"
"""Everything that the tasks of one trade date download and fuse, in one run: what `eod_core` leaves to later
tasks as well (profiles, risk tables, ratios of indices), before what is made of it."""
RECALCULATIONS = "recalculations"
BAR_CALCULATIONS = "bar_calculations"
BESIDE_BARS = ("raw_limit_pool",)
"""What the calculations from bars take where it is stored, and do without where it is not."""
AGAIN = "made_again"
"""What is fused and calculated from stored tables, of dates whose neighbours turned out to be others."""
PICKS = "earlier_picks"
PICKS_FROM = ("fusion_quote_snapshot", "fusion_valuation", "fusion_stock_wide")
"""What picks of many past dates need beside bars, reports and money flow; quotes take one call a code."""
NOT_OF_THE_PAST = ("raw_valuation", "aux_worth")
"""Feeds of these that take a call for each date, or tell of the present alone."""
PICKED = ("calc_factor_score", "track_builtin", "track_preset", "scorecard_daily")
LATER = "freshness_snapshot"
"""The task of calculated tables that look at what the others hold."""

FUSIONS = ("fusion_kline_sync", "fusion_daily_sync", "fusion_wide_sync")
"""The tasks that fuse a trade date."""
OF_CODES = "fusion_codes"
"""The job that fuses some codes because somebody asked: no task of the day, and only tables of stocks."""

HELD_BY_CODE = (
    "name_history", "exright", "exright_item", "kline_daily", "kline_bar", "valuation", "fund_flow", "margin",
    "finance_indicator", "dividend", "holder", "top_holders", "executive_holding", "share_capital", "lockup",
    "announcement", "block_trade", "dragon_tiger", "stock_profile", "business_composition",
)  # fmt: skip
"""Datasets whose past a source tells of single codes, in some calls each."""
OF_THE_MARKET = ("raw_quote", "exchange_margin", "exchange_block_trade", "raw_lhb_branch")
"""Feeds of theirs that take calls for each date."""

SECURITIES = (
    "raw_quote", "ref_code_change", "stg_stock_master", "fusion_stock_master", "ref_name_history",
    "ref_trade_calendar",
)  # fmt: skip
SYNCS = {
    "block_sync": "raw_block_member",
    "index_daily_sync": "fusion_index_daily",
    "kline_bar_sync": BARS_OF_PERIODS,
}
"""Job -> the one table that it loads, because somebody asked."""
SAMPLE = "breadth_sample"
"""The job that the sensor of the market's breadth asks for."""
BASEINFO = "baseinfo_refresh"
"""The job that the sensor of the company profiles asks for, and the dataset that it loads."""
_PROFILES = "stock_profile"


def build_jobs(registry: Registry) -> dict[str, Any]:
    """{job name: job}. A task's job selects the assets whose datasets name the task."""
    all_plans = asset_plans(registry)
    plans = {plan.table.name: plan for plan in all_plans}
    jobs: dict[str, Any] = {}

    def add(
        name: str,
        tables: Iterable[str],
        about: str,
        *,
        dated: bool = True,
        tags: dict[str, str] | None = None,
    ) -> None:
        """A job of the tables that are declared; none where not one of them is."""
        keys = [asset_key(plans[table].table) for table in dict.fromkeys(tables) if table in plans]
        if keys:
            jobs[name] = dg.define_asset_job(
                name,
                selection=dg.AssetSelection.assets(*keys),
                partitions_def=trade_dates() if dated else None,
                tags=tags,
                description=about,
            )

    by_task: dict[str, list[str]] = {}
    for plan in all_plans:
        for task in plan.tasks:
            by_task.setdefault(task, []).append(plan.table.name)
    for task, tables in sorted(by_task.items()):
        add(task, tables, f"assets of the task {task}", tags={"app/task_key": task})
    day = by_task.get(DAY, ())
    for name, when in (("recent_days", "before the newest one is loaded"), ("earlier_days", "behind it")):
        add(name, day, f"everything of a few trade dates in one run, {when}")
    whole = [name for name, plan in plans.items() if of_whole_day(plan)] if day else ()
    add(WHOLE_DAY, whole, "everything that the tasks of a trade date download and fuse, in one run")
    history = [registry.datasets[name].table_name for name in HISTORY if name in registry.datasets]
    add("history", history, "bars and indices of a range of trade dates")
    reporting = [registry.datasets[name] for name in REPORTS if name in registry.datasets]
    reports = [table.name for dataset in reporting for table in dataset.tables()]
    about = "what companies disclosed in a range of dates: results, holders, goodwill, dividends"
    add("reports", reports, about, dated=False)
    if history:
        add("history_and_reports", [*history, *reports], "both of them in one run, for a new installation")
    about = "holders, visits and buybacks since the newest reports that are complete"
    add(DISCLOSED, DISCLOSED_TABLES, about, dated=False)
    calculated = [name for name, plan in plans.items() if _is_calculated(plan) or name in CALCULATED_FROM]
    add("calculations", calculated, "what is calculated from the stored tables of a range of trade dates")
    made = [name for name, plan in plans.items() if _is_calculated(plan)]
    add(RECALCULATIONS, made, "what is calculated from stored tables, again and without a download")
    about = "what is calculated from bars, names and indices alone, as far back as these are stored"
    add(BAR_CALCULATIONS, tables_from_bars(registry), about)
    again = [name for name, plan in plans.items() if _is_made_of_stored(plan)]
    add(AGAIN, again, "what is fused and calculated from the stored tables of a range of trade dates")
    about = "wide rows of many past dates, the picks of boards and presets, what became of them"
    add(PICKS, _tables_of_picks(registry), about)
    for job, name in SYNCS.items():
        dated = name in plans and plans[name].partitioned
        add(job, [name], f"{name} alone, because somebody asked for it", dated=dated)
    sample, profiles = (registry.datasets.get(name) for name in (SAMPLE, _PROFILES))
    if sample is not None:
        add(SAMPLE, [sample.table_name], "how many stocks rise and fall at this moment", dated=False)
    if profiles is not None:
        tables = [table.name for table in profiles.tables()]
        add(BASEINFO, tables, "company profiles of the codes that a run is limited to", dated=False)
    about = "what the fusions of a trade date hold of some codes, because somebody asked for it"
    add(OF_CODES, _tables_of_codes(registry), about)
    about = "everything that belongs to some codes, from a first day on: a watch list's securities"
    add(CODE_HISTORY, _tables_of_history(registry), about)
    add("security_list", SECURITIES, "the security master and the calendar, before the first history load")
    return jobs


def _is_calculated(plan: AssetPlan) -> bool:
    """Whether a task calculates the table from stored ones, other than those that look at what all hold."""
    return plan.table.layer is Layer.CALC and bool(plan.tasks) and LATER not in plan.tasks


def _is_made_of_stored(plan: AssetPlan) -> bool:
    """Whether a load of trade dates makes the table from stored ones alone, without a call."""
    dataset = plan.dataset
    if dataset is None or dataset.table_name == BARS_OF_PERIODS:
        return dataset is not None
    stored = dataset.staged or {source.name for source in dataset.sources} == {DERIVED}
    return stored and plan.partition is Partition.TRADE_DATE


def of_whole_day(plan: AssetPlan) -> bool:
    """Whether the whole day loads a table: every one that a task of trade dates downloads or fuses."""
    return plan.table.layer is not Layer.CALC and bool(plan.tasks)


def tables_from_bars(registry: Registry) -> list[str]:
    """The calculated tables that read nothing but what the range load of bars fills, and each other."""
    known = {registry.datasets[name].table_name for name in HISTORY if name in registry.datasets}
    waiting = {
        plan.table.name: frozenset(plan.deps) for plan in asset_plans(registry) if _is_calculated(plan)
    }
    found: list[str] = []
    while ready := _met(waiting, {*known, *BESIDE_BARS, *found}):
        found += ready
        for name in ready:
            del waiting[name]
    return found


def _tables_of_picks(registry: Registry) -> list[str]:
    """What `earlier_picks` loads; nothing where one of its tables is not declared."""
    owners = {one.table_name: one for one in registry.datasets.values() if one.model is not None}
    if not {*PICKS_FROM, *PICKED} <= owners.keys():
        return []
    names = []
    for name in PICKS_FROM:
        feeds = [feed for feed in owners[name].feeds if feed not in NOT_OF_THE_PAST]
        names += [*feeds, *([owners[name].stage_name] if owners[name].staged else []), name]
    return list(dict.fromkeys([*names, *PICKED]))


def _met(needs: Mapping[str, Collection[str]], known: Collection[str]) -> list[str]:
    """Names whose needs are all known."""
    return sorted(name for name, own in needs.items() if set(own) <= set(known))


def _tables_of_history(registry: Registry) -> list[str]:
    """What `code_history` loads: feeds, staging and fused tables of `HELD_BY_CODE`."""
    names: list[str] = []
    for dataset in (registry.datasets[name] for name in HELD_BY_CODE if name in registry.datasets):
        names += [*dataset.feeds, *(table.name for table in dataset.tables())]
    return [name for name in dict.fromkeys(names) if name not in OF_THE_MARKET]


def _tables_of_codes(registry: Registry) -> list[str]:
    """The fused tables of single stocks that the fusions of a trade date write, and what they are made of.
    A table of the market as a whole would be loaded whole for the sake of two codes."""
    names = []
    for dataset in registry.datasets.values():
        if dataset.model is None or not dataset.of_stocks or not set(FUSIONS) & set(dataset.tasks):
            continue
        if "code" in dataset.table.names:
            feeds = [name for name in dataset.feeds if "code" in registry.raws[name].table.names]
            names += [*feeds, *(table.name for table in dataset.tables() if "code" in table.names)]
    return list(dict.fromkeys(names))
