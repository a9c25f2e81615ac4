"""Cost of loading a trade date of a dataset, estimated from the newest recorded loads."""

from collections import Counter
from collections.abc import Sequence

from core.calendar import TradeCalendar
from core.declaration.dataset import Dataset
from core.declaration.registry import Registry
from resources.warehouse.ledger.loads import Run, recent_loads

_NEWEST = 5_000
"""Answers that say how long one takes."""


def tables_of(dataset: Dataset) -> list[str]:
    """Every table that a load of the dataset writes, in the order in which data passes them."""
    raw = dict.fromkeys([*dataset.feeds, *(item.table_name for item in dataset.raw)])
    staged = [dataset.stage_name] if dataset.model is not None and dataset.staged else []
    own = [dataset.table_name] if dataset.model is not None else []
    return [*raw, *staged, *own]


def calls_per_date(
    run: Run, registry: Registry, tables: Sequence[str], calendar: TradeCalendar
) -> tuple[dict[str, float], list[str]]:
    """(calls per trade date by upstream, tables that fetch but have no recorded load)."""
    per_date: Counter[str] = Counter()
    unknown = []
    for name in tables:
        owner = registry.of_table(name)
        if name not in registry.raws and not (name == owner.table_name and owner.sources):
            continue
        found = recent_loads(run, name)
        dates = sum(_dates(load.partition_key, calendar) for load in found)
        if not dates:
            unknown.append(name)
            continue
        for load in found:
            for upstream, count in load.calls.items():
                per_date[upstream] += count / dates  # type: ignore[assignment]
    return dict(per_date), unknown


def usual_answers(run: Run) -> dict[str, tuple[float, float]]:
    """Upstream -> mean bytes and seconds of its newest recorded answers."""
    rows = run(
        "SELECT upstream, AVG(byte_count), AVG(elapsed_ms) FROM (SELECT upstream, byte_count, elapsed_ms "
        "FROM sys_fetch WHERE outcome='ok' ORDER BY received_at DESC LIMIT ?) AS newest GROUP BY upstream",
        (_NEWEST,),
    )
    return {str(name): (float(size or 0), float(took or 0) / 1000) for name, size, took in rows}


def _dates(partition_key: str, calendar: TradeCalendar) -> int:
    """Trade dates of one load."""
    first, _, last = partition_key.partition("..")
    return len(calendar.between(first, last)) if last else 1
