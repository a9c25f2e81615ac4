"""What there is to know of a dataset before its rows are read: columns with units, sources, freshness."""

from typing import Any

from core.declaration.dataset import Dataset
from core.declaration.registry import Registry
from core.declaration.tables import Table
from platform_assets.research.queries import FACTOR, readable


def listed(registry: Registry) -> list[dict[str, Any]]:
    """Every dataset that can be read: name, table, title, subject, key, date column."""
    return [_head(name, registry.of_table(one.name), one) for name, one in readable(registry).items()]


def _head(name: str, dataset: Dataset, table: Table) -> dict[str, Any]:
    title = dataset.title if name == dataset.name else table.description
    return {
        "name": name, "table": table.name, "title": title, "subject": dataset.subject,
        "layer": str(table.layer), "key": list(table.key), "date_column": table.date_column,
        "keeps_versions": table.has_history,
    }  # fmt: skip


def described(registry: Registry, table: Table) -> dict[str, Any]:
    """`listed` of one table, with its columns (name, type, unit, title) and its sources, best first."""
    dataset = registry.of_table(table.name)
    raw = registry.raws.get(table.name)
    rule = dataset.freshness if raw is None else raw.freshness
    name = next(name for name, one in readable(registry).items() if one.name == table.name)
    sources = dataset.source_order if raw is None else [one.name for one in raw.sources]
    return {
        **_head(name, dataset, table),
        "adjustable": FACTOR in table.names,
        "columns": [
            {"name": spec.name, "type": str(spec.family), "unit": spec.unit, "title": spec.title}
            for spec in table.columns
        ],
        "sources": [name for name in sources if name != "derived"],
        "reads": list(dataset.reads if raw is None else raw.reads),
        "expected": None if rule is None else {"kind": rule.kind, "max_lag": rule.max_lag},
    }
