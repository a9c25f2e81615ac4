"""What there is to know of a dataset before its rows are read: columns with units, sources, freshness."""

from typing import Any

from core.declaration.dataset import Dataset
from core.declaration.registry import Registry
from platform_assets.research.queries import FACTOR, readable


def listed(registry: Registry) -> list[dict[str, Any]]:
    """Every dataset that can be read: name, table, title, subject, key, date column."""
    return [_head(one) for one in readable(registry).values()]


def _head(dataset: Dataset) -> dict[str, Any]:
    table = dataset.table
    return {
        "name": dataset.name, "table": table.name, "title": dataset.title, "subject": dataset.subject,
        "layer": str(table.layer), "key": list(table.key), "date_column": table.date_column,
        "keeps_versions": table.has_history,
    }  # fmt: skip


def described(dataset: Dataset) -> dict[str, Any]:
    """`listed` of one dataset, with its columns (name, type, unit, title) and its sources, best first."""
    rule = dataset.freshness
    return {
        **_head(dataset),
        "adjustable": FACTOR in dataset.table.names,
        "columns": [
            {"name": spec.name, "type": str(spec.family), "unit": spec.unit, "title": spec.title}
            for spec in dataset.table.columns
        ],
        "sources": [name for name in dataset.source_order if name != "derived"],
        "reads": list(dataset.reads),
        "expected": None if rule is None else {"kind": rule.kind, "max_lag": rule.max_lag},
    }
