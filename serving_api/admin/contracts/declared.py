"""The part of a contract that comes from the declaration. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.declaration.dataset import MIN_COVERAGE, Dataset, Source
from core.declaration.registry import Registry
from core.declaration.rules import Fields
from core.declaration.tables import Layer, Table
from platform_assets.descriptions import column_limits, dataset_checks, first_line, spoken, type_text
from resources.warehouse.ledger.tasks_state import TaskState


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


def has_layer(dataset: Dataset, layer: str) -> bool:
    return bool(tables(dataset)[layer])


def cadence(dataset: Dataset, tasks: Mapping[str, TaskState]) -> dict[str, Any]:
    """The first of its tasks that has a time, else the first one."""
    known = [tasks[key] for key in dataset.tasks if key in tasks]
    chosen = next((state for state in known if state.task.timing.timed), known[0] if known else None)
    partition = dataset.partition if dataset.model is not None else dataset.raw[0].partition
    return {
        "partition": str(partition),
        "task": None if chosen is None else chosen.key,
        "time": None if chosen is None else chosen.task.timing.text,
    }


def contract(registry: Registry, dataset: Dataset, days: int) -> dict[str, Any]:
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
    fields = isinstance(rule, Fields)
    return {
        "mode": "field" if fields else "row",
        "order": list(dataset.source_order),
        "tolerances": dict(rule.tolerance) if isinstance(rule, Fields) else {},
    }


def _retention(dataset: Dataset, days: int) -> str:
    if not dataset.staged or dataset.dimension:
        return "not deleted"
    return f"{dataset.stage_name}: {days} days; the other tables are not deleted"
