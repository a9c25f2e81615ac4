"""Contracts: the declaration of each dataset next to its status in the ledgers."""

from collections.abc import Sequence
from typing import Any

from core.declaration.dataset import Dataset
from core.declaration.registry import builtin_registry
from core.errors import InputError, NotFound
from resources.warehouse.ledger.tasks_state import TaskTable
from resources.warehouse.retention import SCHEDULED_DAYS, scheduled_days
from serving_api.admin.config import queries as config_queries
from serving_api.admin.contracts import declared, queries
from serving_api.admin.shared import instant, off_loop
from serving_api.admin.stats.service import freshness
from serving_api.db.sessions import Session
from serving_api.framework.state import State


async def contracts(state: State, layer: str | None) -> dict[str, Any]:
    """{items[ContractItem], total}, of datasets that have a table in `layer`."""
    datasets = [
        dataset
        for dataset in builtin_registry().datasets.values()
        if dataset.tables() and (layer is None or declared.has_layer(dataset, layer))
    ]
    items = await _items(state, datasets)
    for item in items:
        del item["present"]
    return {"items": items, "total": len(items)}


async def contract(state: State, name: str) -> dict[str, Any]:
    """One contract. Raises NotFound."""
    registry = builtin_registry()
    dataset = registry.dataset(name)
    if not dataset.tables():
        raise NotFound(f"{name} has no load, so it has no contract")
    (item,) = await _items(state, [dataset])
    days = await state.reading.scan(_retention_days)
    rule = declared.completeness(registry, dataset)
    complete = {"rule": rule, "expected": None, "present": item.pop("present")}
    return {**item, **declared.contract(registry, dataset, days), "completeness": complete}


def _retention_days(session: Session) -> int:
    stored = {key: str(row["value"]) for key, row in config_queries.stored(session).items() if row["value"]}
    try:
        return scheduled_days(stored)
    except InputError:
        return SCHEDULED_DAYS


async def _items(state: State, datasets: Sequence[Dataset]) -> list[dict[str, Any]]:
    tasks = await off_loop(TaskTable(state.reading.warehouse.engine).all)
    by_key = {task.key: task for task in tasks}
    fresh = (await freshness(state))["details"]
    names = {dataset.name: declared.main_table(dataset).name for dataset in datasets}
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
        found.append(
            {
                "dataset": dataset.name,
                "tables": declared.tables(dataset),
                "cadence": declared.cadence(dataset, by_key),
                "status": status,
                "last_success": None
                if success is None
                else {
                    "batch_id": success["batch_id"],
                    "partition": success["partition"],
                    "at": instant(success["at"]),
                },
                "present": None if success is None else success["rows"],
            }
        )
    return found


def _ledger(session: Session, tables: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    ended = queries.newest(session, tables)
    times = {table: str(found["success"]) for table, found in ended.items() if found["success"] is not None}
    return ended, queries.successes(session, times)
