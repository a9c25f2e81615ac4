"""/datamgr/contracts: admin, enveloped."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Path, Query
from pydantic import BaseModel, Field

from core.declaration.dataset import MIN_COVERAGE, Dataset, Source
from core.declaration.registry import Registry, builtin_registry
from core.declaration.rules import Fields
from core.declaration.tables import Layer, Table
from core.errors import InputError, NotFound
from platform_assets.descriptions import column_limits, dataset_checks, first_line, spoken, type_text
from resources.warehouse.ledger.tasks_state import TaskState, TaskTable
from resources.warehouse.retention import SCHEDULED_DAYS, scheduled_days
from resources.warehouse.stored import select
from serving_api.admin.config import stored_entries
from serving_api.admin.stats import freshness_of
from serving_api.db.batches import ACCEPTED, BATCHES, NO_PARENT
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

ContractStatus = Literal["ok", "late", "failing"]


class ContractTables(BaseModel):
    """Tables of one dataset, in the order in which data passes them."""

    raw: list[str]
    stg: str | None
    ref: str | None
    dwd: str | None
    calc: str | None


class Cadence(BaseModel):
    partition: str = Field(description="trade_date, event_date, snapshot or code")
    task: str | None = Field(description="the scheduled task that loads it")
    time: str | None = Field(description="HH:MM local exchange time, as it is in force")


class LastSuccess(BaseModel):
    batch_id: str
    partition: str | None
    at: str


class ContractItem(BaseModel):
    """`failing`: its newest batch failed; `late`: older than its rule allows, or never loaded."""

    dataset: str
    tables: ContractTables
    cadence: Cadence
    status: ContractStatus
    last_success: LastSuccess | None


class ContractColumn(BaseModel):
    name: str
    type: str
    unit: str | None
    nullable: bool
    description: str
    checks: list[str] = Field(description="hard limits; a row that breaks one is rejected")
    no_source: str | None = Field(description="why the column stays empty")


class ContractSource(BaseModel):
    name: str
    table: str | None = Field(description="RAW table that it fills; null: fetched for the table itself")
    priority: int = Field(description="1 = asked or accepted first")
    call: str


class FusionRule(BaseModel):
    mode: Literal["row", "field"]
    order: list[str]
    tolerances: dict[str, float] = Field(description="relative difference from which two sources conflict")


class FreshnessRule(BaseModel):
    kind: Literal["trading", "calendar", "period"]
    max_lag: int
    column: str


class Completeness(BaseModel):
    rule: str
    expected: int | None = Field(description="rows that the newest load was expected to have; null: unknown")
    present: int | None = Field(description="rows that the newest successful load accepted")


class Contract(ContractItem):
    """The declared properties of one dataset: schema, units, sources, rules, and whether its loads meet
    them."""

    description: str
    columns: list[ContractColumn]
    key: list[str]
    sources: list[ContractSource]
    fusion: FusionRule | None
    freshness: FreshnessRule | None
    retention: str
    completeness: Completeness
    checks: dict[str, str]
    interfaces: list[str]


def newest(session: Session, tables: Sequence[str]) -> dict[str, dict[str, str | None]]:
    """Table -> {success, failed}: when its newest batch of either kind ended."""
    c = BATCHES.c
    ended = (
        sa.func.max(sa.case((c.status.in_(statuses), c.finished_at)))
        for statuses in (("success",), ("failed", "partial"))
    )
    newest = select(BATCHES, c.table_name, *ended).where(c.table_name.in_(tables))
    rows = session.run(newest.group_by(c.table_name))
    return {str(name): {"success": success, "failed": failed} for name, success, failed in rows}


def successes(session: Session, ended: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Table -> its newest successful batch; `ended` is when that batch ended. Of batches that ended at the
    same time the one of the newest partition is taken, and no parent batch."""
    found, c = {}, BATCHES.c
    for table, at in ended.items():
        of = [c.table_name == table, c.status == "success", c.finished_at == at, NO_PARENT]
        batch = select(BATCHES, c.batch_id, c.partition_key, c.finished_at, ACCEPTED).where(*of)
        rows = session.run(batch.order_by(c.partition_key.desc(), c.batch_id.desc()).limit(1))
        if rows:
            batch_id, partition, finished, count = rows[0]
            shown = {"batch_id": str(batch_id), "partition": partition, "at": str(finished)}
            found[table] = {**shown, "rows": int(count)}
    return found


def main_table(dataset: Dataset) -> Table:
    """The table whose batches give the status of a dataset: the fused or reference one, else its first RAW
    table."""
    return dataset.raw[0].table if dataset.model is None else dataset.table


def tables(dataset: Dataset) -> dict[str, Any]:
    raw = dict.fromkeys([*dataset.feeds, *(item.table_name for item in dataset.raw)])
    own: dict[str, str | None] = {str(layer): None for layer in (Layer.REF, Layer.DWD, Layer.CALC)}
    if dataset.model is not None:
        own |= {str(dataset.layer): dataset.table_name}
    return {"raw": list(raw), "stg": dataset.stage_name if dataset.staged else None, **own}


def cadence(dataset: Dataset, tasks: Mapping[str, TaskState]) -> dict[str, Any]:
    """The first of its tasks that has a time, else the first one."""
    known = [tasks[key] for key in dataset.tasks if key in tasks]
    chosen = next((state for state in known if state.task.timing.timed), known[0] if known else None)
    partition = dataset.partition if dataset.model is not None else dataset.raw[0].partition
    task, time = (None, None) if chosen is None else (chosen.key, chosen.task.timing.text)
    return {"partition": str(partition), "task": task, "time": time}


def declared_contract(registry: Registry, dataset: Dataset, days: int) -> dict[str, Any]:
    """Schema, sources and rules; `days` is the retention of staged time series."""
    table, rule = main_table(dataset), dataset.freshness
    if dataset.model is None:
        rule = dataset.raw[0].freshness
    return {
        "description": dataset.title or spoken(dataset.name),
        "columns": [
            {
                "name": spec.name,
                "type": type_text(spec).partition(" [")[0],
                "unit": spec.unit or None,
                "nullable": spec.nullable and spec.name not in table.key,
                "description": spec.title,
                "checks": list(column_limits(spec, table.key)),
                "no_source": spec.no_source or None,
            }
            for spec in table.columns
        ],
        "key": list(table.key),
        "sources": list(_sources(registry, dataset)),
        "fusion": _fusion(dataset),
        "freshness": None
        if rule is None
        else {"kind": rule.kind, "max_lag": rule.max_lag, "column": rule.column},
        "retention": _retention(dataset, days),
        "checks": {check.name: check.text for check in dataset_checks(dataset)},
        "interfaces": [interface.name for interface in dataset.interfaces],
    }


def completeness(registry: Registry, dataset: Dataset) -> str:
    """What makes a load complete, as text."""
    raws = [registry.raws[feed] for feed in dataset.feeds] if dataset.staged else dataset.raw
    if dataset.expected is not None or any(raw.expected is not None for raw in raws):
        return (
            f"at least {MIN_COVERAGE:.0%} of the rows that the universe promises of a date; fewer are refused"
        )
    optional = dataset.may_be_empty if dataset.model is not None else all(raw.may_be_empty for raw in raws)
    return "no row at all is an ordinary answer" if optional else "at least one row; none is refused"


def _sources(registry: Registry, dataset: Dataset) -> Iterator[dict[str, Any]]:
    order = list(dataset.source_order)
    if dataset.sources:
        yield from _ranked(dataset.sources, order, None)
    fed = [registry.raws[feed] for feed in dataset.feeds] or list(dataset.raw)
    for raw in fed:
        yield from _ranked(raw.sources, order, raw.table_name)


def _ranked(sources: tuple[Source, ...], order: list[str], table: str | None) -> Iterator[dict[str, Any]]:
    for place, source in enumerate(sources):
        rank = order.index(source.name) if source.name in order else place
        call = first_line(source.fetch.__doc__) or spoken(source.fetch.__name__)
        yield {"name": source.name, "table": table, "priority": rank + 1, "call": call}


def _fusion(dataset: Dataset) -> dict[str, Any] | None:
    if dataset.model is None or dataset.layer is not Layer.DWD or not dataset.source_order:
        return None
    rule = dataset.fuse
    mode, tolerances = ("field", dict(rule.tolerance)) if isinstance(rule, Fields) else ("row", {})
    return {"mode": mode, "order": list(dataset.source_order), "tolerances": tolerances}


def _retention(dataset: Dataset, days: int) -> str:
    if not dataset.staged or dataset.dimension:
        return "not deleted"
    return f"{dataset.stage_name}: {days} days; the other tables are not deleted"


async def _contract(state: State, name: str) -> dict[str, Any]:
    """One contract. Raises NotFound."""
    registry = builtin_registry()
    dataset = registry.dataset(name)
    if not dataset.tables():
        raise NotFound(f"{name} has no load, so it has no contract")
    (item,) = await _items(state, [dataset])
    days = await state.reading.scan(_retention_days)
    complete = {"rule": completeness(registry, dataset), "expected": None, "present": item.pop("present")}
    return {**item, **declared_contract(registry, dataset, days), "completeness": complete}


def _retention_days(session: Session) -> int:
    stored = {key: str(row["value"]) for key, row in stored_entries(session).items() if row["value"]}
    try:
        return scheduled_days(stored)
    except InputError:
        return SCHEDULED_DAYS


async def _items(state: State, datasets: Sequence[Dataset]) -> list[dict[str, Any]]:
    tasks = await off_loop(TaskTable(state.reading.warehouse.engine).all)
    by_key = {task.key: task for task in tasks}
    fresh = (await freshness_of(state))["details"]
    names = {dataset.name: main_table(dataset).name for dataset in datasets}
    ended, last = await state.reading.scan(_ledger, list(names.values()))
    found = []
    for dataset in datasets:
        table = names[dataset.name]
        times, success = ended.get(table, {}), last.get(table)
        failed = times.get("failed")
        if failed is not None and (success is None or failed > success["at"]):
            status = "failing"
        else:
            status = "late" if success is None or fresh.get(table, {}).get("isStale") else "ok"
        last_success, present = None, None
        if success is not None:
            last_success = {"batch_id": success["batch_id"], "partition": success["partition"]}
            last_success["at"] = instant(success["at"])
            present = success["rows"]
        shown = {"dataset": dataset.name, "tables": tables(dataset), "cadence": cadence(dataset, by_key)}
        found.append({**shown, "status": status, "last_success": last_success, "present": present})
    return found


def _ledger(session: Session, tables: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    ended = newest(session, tables)
    times = {table: str(found["success"]) for table, found in ended.items() if found["success"] is not None}
    return ended, successes(session, times)


router = area_router(f"{PREFIX}/datamgr/contracts", "datamgr: contracts")


ContractLayer = StrEnum("ContractLayer", "raw stg ref dwd calc")


@router.get("", response_model=list[ContractItem])
@serves(top=[("total", int)])
async def contracts(
    call: Admin,
    layer: Annotated[ContractLayer | None, Query(description="only datasets with a table in it")] = None,
) -> Answer:
    """Every dataset: its tables, when it is loaded, and its status."""
    loaded = [dataset for dataset in builtin_registry().datasets.values() if dataset.tables()]
    datasets = [dataset for dataset in loaded if layer is None or tables(dataset)[layer]]
    items = await _items(call.state, datasets)
    for item in items:
        del item["present"]
    return Answer({"items": items, "total": len(items)})


@router.get("/{dataset}", response_model=Contract)
@serves(raises=(404,))
async def contract(
    call: Admin,
    dataset: Annotated[str, Path(max_length=64, description="name of a dataset", examples=["margin"])],
) -> Answer:
    """The contract of one dataset: schema, units, sources, fusion, freshness, retention, completeness."""
    return Answer(await _contract(call.state, dataset))
