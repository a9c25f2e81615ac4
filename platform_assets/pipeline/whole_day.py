"""Every table of a date, each after those that it needs: the asset graph walked without Dagster."""

from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter

from core.declaration.registry import Registry
from core.declaration.scope import Scope
from core.errors import PlatformError
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.load import load_fused, load_raw, load_stage
from platform_assets.pipeline.run import PipelineRun

Load = Callable[[PipelineRun, Scope], Loaded]
Choose = Callable[[Sequence[str]], str]
"""Which of the tables that could be loaded next is loaded next."""
OVERVIEWS = frozenset({"calc_freshness_snapshot"})
"""Tables about the state of all the others."""


def steps(registry: Registry) -> tuple[dict[str, Load], dict[str, set[str]]]:
    """(table -> its load, table -> tables that it needs)."""
    loads: dict[str, Load] = {}
    needs: dict[str, set[str]] = {}
    for dataset in registry.datasets.values():
        for raw in dataset.raw:
            loads[raw.table_name] = lambda run, scope, r=raw: load_raw(run, r, scope)  # type: ignore[misc]
            needs[raw.table_name] = set(raw.reads)
        if dataset.model is None:
            continue
        own = set(dataset.reads)
        if dataset.staged:
            loads[dataset.stage_name] = lambda run, scope, d=dataset: load_stage(run, d, scope)  # type: ignore[misc]
            needs[dataset.stage_name] = set(dataset.feeds)
            own.add(dataset.stage_name)
        loads[dataset.table_name] = lambda run, scope, d=dataset: load_fused(run, d, scope)  # type: ignore[misc]
        needs[dataset.table_name] = own
    for name in OVERVIEWS & loads.keys():
        needs[name] |= loads.keys() - OVERVIEWS
    return loads, needs


def load_day(
    run: PipelineRun, scope: Scope, *, choose: Choose = min, tables: Sequence[str] | None = None
) -> Mapping[str, str]:
    """Load every table (or some, without those that they need) for a scope; what a table could not be loaded
    for is in the answer, by table, and stops no other."""
    loads, needs = steps(run.registry)
    requested = set(loads if tables is None else tables)
    graph = TopologicalSorter(needs)
    graph.prepare()
    ready: list[str] = []
    failures: dict[str, str] = {}
    while graph.is_active():
        ready += graph.get_ready()
        name = choose(ready)
        ready.remove(name)
        if name in requested:
            try:
                loads[name](run, scope)
            except PlatformError as error:
                failures[name] = error.message
        graph.done(name)
    return failures
