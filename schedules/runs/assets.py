"""Which assets a load of a dataset's trade dates materializes. Without Dagster."""

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from resources.orchestrator import AssetPath
from resources.warehouse.ledger.missing_partitions import has_dates


def dated_assets(name: str) -> list[AssetPath]:
    """Keys of the tables that a load of trade dates of the dataset `name` fills: what feeds it, then its own.
    A feed that tells of the present alone has no dates, and no part in it. [] where no dataset with trade
    dates has that name."""
    registry = builtin_registry()
    dataset = registry.datasets.get(name)
    if dataset is None or not has_dates(dataset):
        return []
    raws = {feed: registry.raws[feed] for feed in dataset.feeds} | {
        raw.table_name: raw for raw in dataset.raw
    }
    tables: list[Table] = [raw.table for raw in raws.values() if raw.partition.by_date]
    if dataset.model is not None:
        tables += [dataset.stage_table] if dataset.staged else []
        tables.append(dataset.table)
    return list(dict.fromkeys((str(table.layer), table.name) for table in tables))
