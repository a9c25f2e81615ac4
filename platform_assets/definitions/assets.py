"""Declarations -> Dagster assets and checks: the only place that builds them.

One asset per table, key [layer, table]. An asset's body turns the run's partitions into a scope, calls
one load of the pipeline, and reports what the batch did. Checks are yielded by the asset itself, from
the same data and the same transaction that wrote the rows.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

import dagster as dg

from core.calendar import FIRST_PARTITION, shipped_calendar
from core.declaration.dataset import Dataset, Raw
from core.declaration.registry import Registry
from core.declaration.rules import Freshness, Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer, Table
from core.errors import ConflictError, InputError, PlatformError, QualityError, StorageError, Transient
from platform_assets import descriptions
from platform_assets.definitions import materialization, run_context, step_order
from platform_assets.definitions.partitions import (
    RANGE_TAGS,
    check_partitions,
    closed_within,
    trade_dates,
)
from platform_assets.definitions.queues import queue_tags
from platform_assets.definitions.resources import RUN_RESOURCES, platform_of
from platform_assets.definitions.run_lease import lease_for
from platform_assets.definitions.source_metadata import column_lineage, declared_in
from platform_assets.pipeline.batches import Loaded, refuse
from platform_assets.pipeline.load import load_fused, load_raw, load_stage
from platform_assets.pipeline.run import PipelineRun, Refusal
from resources.composition import Platform
from resources.orchestrator import CODES_TAG, PARTITION, SINCE_TAG, TASK_TAG
from resources.warehouse.writer import WriteResult

_WEEK = 5
RUN_DATES = 60
"""Trade dates of one run of a backfill: what a crash costs at most, for the price of a process."""


def freshness_policy(rule: Freshness) -> dg.FreshnessPolicy:
    """Overdue after the longest time that the rule allows; degraded after that of a week without holidays.

    Dagster measures from the last materialization and knows no trade calendar, so the window is the longest
    time that may pass while the declaration still holds: for trade dates, over the longest holiday that is
    known."""
    if rule.kind != "trading":
        # Of days, and of days after a period's end: each load confirms what is there.
        return dg.FreshnessPolicy.time_window(fail_window=timedelta(days=rule.max_lag + 1))
    dates = rule.max_lag + 1
    ordinary = timedelta(days=dates + 2 * -(-dates // _WEEK))
    longest = timedelta(days=_longest(dates))
    warn = ordinary if ordinary < longest else None
    return dg.FreshnessPolicy.time_window(fail_window=longest, warn_window=warn)


@cache
def _longest(dates: int) -> int:
    """Days from a trade date to the one that many trade dates later, at most."""
    calendar = shipped_calendar()
    known = calendar.between(FIRST_PARTITION, calendar.confirmed_until)
    days = [date.fromisoformat(day) for day in known]
    return max((later - day).days for day, later in zip(days, days[dates:], strict=False))


BLOCKING = frozenset({"ref_trade_calendar", "fusion_stock_master", "ref_exright", "fusion_kline_daily"})
"""Tables that most others follow from: where checks rejected all that was to be written, nothing after them
is loaded in that run. A source that is away is no reason: then what is stored is right, if old."""
Load = Callable[[PipelineRun, Scope], Loaded]
OWNER = "team:data"
_LIMITS = {descriptions.SCHEMA_CHECK: descriptions.schema_check().text}


@dataclass(frozen=True)
class AssetPlan:
    """What one asset needs to know; made from the registry, one per table."""

    table: Table
    group: str
    deps: tuple[str, ...]
    partition: Partition
    about: str
    check_texts: Mapping[str, str]
    """Check -> what it says: `schema` (every column limit), then each named function of a fused table."""
    load: Load
    tasks: tuple[str, ...]
    domain: str | None = None
    own_past: bool = False
    freshness: Freshness | None = None
    dataset: Dataset | None = None
    """Of a fused table: its declaration."""
    model: type | None = None
    """The class that declares the columns."""

    @property
    def checks(self) -> tuple[str, ...]:
        return tuple(self.check_texts)

    @property
    def partitioned(self) -> bool:
        return self.partition.by_date


def asset_key(table: Table) -> dg.AssetKey:
    return dg.AssetKey([str(table.layer), table.name])


def asset_plans(registry: Registry) -> list[AssetPlan]:
    """One plan per declared table."""
    plans = []
    for dataset in registry.datasets.values():
        for raw in dataset.raw:
            plans.append(_raw_plan(registry, raw, dataset))
        if dataset.model is None:
            continue
        if dataset.staged:
            partition = Partition.SNAPSHOT if dataset.dimension else dataset.partition
            plans.append(
                AssetPlan(
                    table=dataset.stage_table,
                    deps=tuple(dataset.feeds),
                    partition=partition,
                    about=descriptions.stage_about(dataset),
                    check_texts=_LIMITS,
                    load=lambda run, scope, d=dataset: load_stage(run, d, scope),  # type: ignore[misc]
                    **_declared(dataset),
                )
            )
        own = (dataset.stage_name,) if dataset.staged else ()
        plans.append(
            AssetPlan(
                table=dataset.table,
                deps=(*own, *dataset.reads),
                partition=dataset.partition,
                about=descriptions.fused_about(dataset),
                check_texts={check.name: check.text for check in descriptions.dataset_checks(dataset)},
                domain=dataset.domain,
                load=lambda run, scope, d=dataset: load_fused(run, d, scope),  # type: ignore[misc]
                own_past=dataset.reads_own_past,
                freshness=dataset.freshness,
                dataset=dataset,
                **_declared(dataset),
            )
        )
    return plans


def _declared(dataset: Dataset) -> dict[str, Any]:
    """What the tables of a dataset share."""
    return {"group": dataset.subject, "tasks": dataset.tasks, "model": dataset.model}


def _raw_plan(registry: Registry, raw: Raw, owner: Dataset) -> AssetPlan:
    return AssetPlan(
        table=raw.table,
        group=owner.subject,
        deps=raw.reads,
        partition=raw.partition,
        about=descriptions.raw_about(raw),
        check_texts=_LIMITS,
        load=lambda run, scope: load_raw(run, raw, scope),
        freshness=raw.freshness,
        model=raw.model,
        tasks=registry.tasks_of(raw),
    )


def build_assets(
    registry: Registry, engine: str = "sqlite", *, queued: bool = False
) -> list[dg.AssetsDefinition]:
    """`engine` names the warehouse's database beside each asset: sqlite or mariadb. `queued`: workers carry
    the steps out, each table's those of its queue."""
    plans = asset_plans(registry)
    keys = {plan.table.name: asset_key(plan.table) for plan in plans}
    with warnings.catch_warnings():
        # Backfill policies and code references are beta; the pin and the tests hold them.
        warnings.simplefilter("ignore", dg.BetaWarning)
        made = [_build(plan, keys, engine, queued=queued) for plan in plans]
        shown = dg.with_source_code_references(made)
    return [one for one in shown if isinstance(one, dg.AssetsDefinition)]


def _build(
    plan: AssetPlan, keys: Mapping[str, dg.AssetKey], engine: str, *, queued: bool
) -> dg.AssetsDefinition:
    key = asset_key(plan.table)
    partitions = trade_dates() if plan.partitioned else None

    @dg.asset(
        key=key,
        deps=[keys[name] for name in plan.deps],
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.multi_run(RUN_DATES) if plan.partitioned else None,
        group_name=plan.group,
        description=plan.about,
        kinds={"python" if plan.table.layer is Layer.RAW else "pandas", engine},
        owners=[OWNER],
        tags={"layer": str(plan.table.layer)},
        op_tags=queue_tags(plan.table.layer) if queued else None,
        freshness_policy=None if plan.freshness is None else freshness_policy(plan.freshness),
        metadata={
            "dagster/column_schema": materialization.column_schema(plan.table),
            "dagster/table_name": plan.table.name,
            **({} if plan.dataset is None else column_lineage(plan.dataset, keys)),
            **({} if plan.model is None else declared_in(plan.model)),
        },
        check_specs=[
            # Not by partition: a planned event per check and date; the UI calls the check skipped until every
            # date of a range has a result of its own, and its tab stays blank until the states of all dates
            # of all checks are there (16 s for 14 checks of 60 dates).
            dg.AssetCheckSpec(name, asset=key, description=text, blocking=plan.table.name in BLOCKING)
            for name, text in plan.check_texts.items()
        ],
        output_required=False,
        required_resource_keys=set(RUN_RESOURCES),
    )
    def materialize(context: dg.AssetExecutionContext) -> Iterator[Any]:
        refused: list[Refusal] = []
        try:
            opened = platform_of(context)
            partitions_asked = _partitions(context, plan, opened)
            scope = _scope(context.run.tags, partitions_asked, opened)
            with run_context.entered(context, opened):
                loaded = _run(context, plan, opened, scope, refused)
        except PlatformError as error:
            run_context.again_when_database_is_back(context, error)
            yield from _failed(plan, error, refused)
            return
        yield from _succeeded(context, plan, loaded, partitions_asked)
        why = _incomplete(loaded, partitions_asked)
        if why is not None:
            facts = {run_context.LACKS_PARTS: why}
            raise dg.Failure(f"{plan.table.name}: {why}", facts, allow_retries=False)

    return materialize


def _partitions(context: dg.AssetExecutionContext, plan: AssetPlan, opened: Platform) -> list[str]:
    """The trade dates of this run; an unpartitioned asset of a dated job works for the job's date. A date
    that is none, or has not come yet, is refused by its name."""
    try:
        check_partitions(context.run.tags)
        keys = sorted(context.partition_keys) if plan.partitioned else _dates_of_run(context.run.tags, opened)
        _refuse_future(keys, opened)
        keys = _open_days(keys, opened)
    except InputError as error:
        raise dg.Failure(description=error.message, allow_retries=False) from error
    closed = closed_within(context.run.tags)
    if closed:
        context.log.info(f"no trade dates: {closed}")
    return keys


def _refuse_future(days: Sequence[str], opened: Platform) -> None:
    today = opened.clock.now().date().isoformat()
    late = next((day for day in days if day > today), None)
    if late is not None:
        raise InputError("partition", f"{late} is in the future (today is {today})")


def _open_days(days: Sequence[str], opened: Platform) -> list[str]:
    """The trade dates among them: one that turned out closed is a partition until the code location is loaded
    again. InputError where there is none."""
    found = [day for day in days if opened.calendar.is_trade_date(day)]
    if days and not found:
        raise InputError("partition", f"{days[0]} is no trade date")
    return found


def _dates_of_run(tags: Mapping[str, str], opened: Platform) -> list[str]:
    """Dates of an unpartitioned asset: the run's partition or range, else the newest trade date."""
    start, end = (tags.get(tag) for tag in RANGE_TAGS)
    if start and end:
        return opened.calendar.between(start, end)
    today = opened.clock.now().date().isoformat()
    return [tags.get(PARTITION) or opened.calendar.on_or_before(today)]


def _codes(tags: Mapping[str, str]) -> tuple[str, ...] | None:
    """Codes that the run is limited to (a sync or download by codes); None = the whole market."""
    text = tags.get(CODES_TAG, "")
    return tuple(code for code in text.split(",") if code) or None


def _scope(tags: Mapping[str, str], days: Sequence[str], opened: Platform) -> Scope:
    """What a run of some trade dates loads; of codes with a history all dates since its first day: these are
    no partitions, which are of the market."""
    codes, since = _codes(tags), tags.get(SINCE_TAG)
    dates = opened.calendar.between(since, days[-1]) if codes and since else days
    return Scope(dates=tuple(dates), codes=codes)


def _run(
    context: dg.AssetExecutionContext, plan: AssetPlan, opened: Platform, scope: Scope, refused: list[Refusal]
) -> Loaded:
    tags, run_id = context.run.tags, context.run.run_id
    with lease_for(opened.warehouse.locks, plan.domain, tags, run_id) as lease:
        run = run_context.pipeline_run(
            opened,
            tags,
            run_id,
            kind=run_context.BACKFILL if "dagster/backfill" in tags else "manual",
            ref=tags.get(TASK_TAG) or tags.get("dagster/schedule_name"),
            lease=lease,
            refused=refused,
        )
        with run_context.patience_for(run.trigger.kind, run_id):
            try:
                return plan.load(run, scope)
            except PlatformError:
                raise
            except Exception as error:
                # A fault of ours: recorded like one of a source, so that every reader finds it.
                why = f"{type(error).__name__}: {error}"
                refuse(run, plan.table, scope, why, None, plan.dataset)
                raise PlatformError(why) from error


def _succeeded(
    context: dg.AssetExecutionContext, plan: AssetPlan, loaded: Loaded, asked: Sequence[str]
) -> Iterator[Any]:
    """Of a table by trade date a partition is materialized for each date of the market as a whole that is
    loaded: those that were asked for, and earlier ones whose figures came with them."""
    key = asset_key(plan.table)
    last = loaded.results[-1] if loaded.results else None
    lacking = {result.partition_key for result in loaded.results if result.missing}
    whole = True
    if plan.partitioned:
        done = {
            result.partition_key: _partition_metadata(loaded, result, newest=result is last)
            for result in loaded.results
            if (result.partition_key in asked or materialization.has_changed(result))
            and result.partition_key not in lacking
        }
        for day, why in sorted({**loaded.not_out, **loaded.not_loaded}.items()):
            context.log.warning(f"{day} is not materialized: {why}")
        known, of_codes = set(trade_dates().get_partition_keys()), bool(_codes(context.run.tags))
        whole = not of_codes and done.keys() >= set(context.partition_keys)
        for day in sorted(done.keys() & known):
            if whole and day in asked:
                context.add_asset_metadata(done[day], asset_key=key, partition_key=day)
            elif not of_codes:
                yield dg.AssetMaterialization(key, partition=day, metadata=done[day])
    elif lacking:
        whole = False
    elif last is not None:
        # Not in the result: Dagster would write it once more into the step's own event.
        context.add_asset_metadata(materialization.partition_metadata(loaded, last), asset_key=key)
    if plan.partitioned and last is None:
        checks = materialization.checks_of_nothing(plan.checks, {**loaded.not_out, **loaded.not_loaded})
    else:
        checks = materialization.check_results(plan.checks, loaded)
    if not whole:
        yield step_order.without_materialization(key, checks)
        return
    version = last.content_hash[: materialization.VERSION_LENGTH] if last and len(asked) == 1 else None
    yield dg.MaterializeResult(
        asset_key=key,
        data_version=None if version is None else dg.DataVersion(version),
        check_results=checks,
    )


def _incomplete(loaded: Loaded, asked: Sequence[str]) -> str | None:
    """Which parts of the table are missing of a date that was asked for, or that this load changed."""
    for result in loaded.results:
        if result.missing and (result.partition_key in asked or materialization.has_changed(result)):
            return f"{result.missing} of {result.partition_key}; the rest of it is stored"
    return None


def _partition_metadata(loaded: Loaded, result: WriteResult, *, newest: bool) -> dict[str, Any]:
    whole = materialization.shown_whole(loaded) if newest else {}
    note = {} if result.rows_in else {"note": f"0 rows: {loaded.nothing}"}
    return {**materialization.partition_metadata(loaded, result, newest=newest), **whole, **note}


def _failed(plan: AssetPlan, error: PlatformError, refused: Sequence[Refusal]) -> Iterator[Any]:
    """The refused batch is already recorded; tell Dagster why, and whether a retry can help. Checks and the
    output come first: what is yielded before the failure is kept."""
    key = asset_key(plan.table)
    rejected = any(record.action == "rejected" for refusal in refused for record in refusal.quality)
    wrong = rejected and isinstance(error, QualityError)
    blocks = plan.table.name in BLOCKING
    absent = blocks and not wrong  # what comes behind blocking checks waits for a result of each
    checks = materialization.refused_results(plan.checks, key, error.message, refused, absent=absent)
    if isinstance(error, StorageError) or (blocks and wrong):
        # Nothing after it could be stored either, or should be.
        yield from checks
    else:
        yield step_order.without_materialization(key, checks)
    retry = isinstance(error, Transient | ConflictError)
    raise dg.Failure(description=error.message, allow_retries=retry) from error
