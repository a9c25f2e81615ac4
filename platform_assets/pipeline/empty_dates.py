"""Trade dates of a load that have no row: an answer, not out yet, or not loaded.

Only an answer is written: that a source was asked and has nothing, or that what a table is made from is
loaded and nothing follows from it. What is not loaded is a failed batch of that date.
"""

from collections.abc import Callable, Iterable, Sequence

from core.declaration.dataset import Dataset, Source
from core.declaration.frames import empty_frame
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.errors import QualityError
from platform_assets.pipeline import missing_parts
from platform_assets.pipeline.batches import Loaded, refuse
from platform_assets.pipeline.download import Download
from platform_assets.pipeline.missing_parts import in_words
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import Part
from resources.warehouse.ledger.loads import loaded_days
from resources.warehouse.slices import Slice

WhyNot = Callable[[str], str | None]
"""Trade date -> why it is not loaded; None: that it has no row is an answer."""


def is_dated(run: PipelineRun, loaded: Loaded, scope: Scope) -> bool:
    """Whether a load of the market as a whole writes each trade date by itself."""
    return scope.codes is None and run.registry.trade_days[loaded.table.name].partition.by_date


def with_answers(
    run: PipelineRun, loaded: Loaded, parts: Sequence[Part], scope: Scope, why_not: WhyNot
) -> list[Part]:
    """The parts with one for each trade date of the scope whose emptiness is an answer; the other dates
    without a row are named in `loaded`."""
    declared = run.registry.trade_days[loaded.table.name]
    now = run.clock.now()
    kept: dict[str, list[Part]] = {}
    for part in parts:
        if len(part.frame) or part.rejected:
            kept.setdefault(part.key, []).append(part)
    empty = {part.key: part for part in parts}
    refused = frozenset[str]().union(*(part.refused_days for part in parts))
    for day in scope.dates:
        if day in kept:
            continue
        later = declared.not_out(day, now, run.calendar)
        why = later or ("each of its rows was rejected" if day in refused else why_not(day))
        if why is None:
            kept[day] = [empty.get(day) or Part(day, empty_frame(loaded.table.columns), Slice(codes=()))]
        elif day in scope.asked:
            (loaded.not_loaded if later is None else loaded.not_out)[day] = why
    return [part for key in sorted(kept) for part in kept[key]]


def refuse_not_loaded(
    run: PipelineRun, loaded: Loaded, scope: Scope, download: Download | None, dataset: Dataset | None = None
) -> None:
    """A failed batch for each trade date that is not loaded. QualityError where a table that is made from
    others has none of the dates that it was asked for."""
    known = _loaded(run, loaded.table.name, scope)
    for day, why in loaded.not_loaded.items():
        if day not in known:
            refuse(run, loaded.table, Scope((day,)), f"{loaded.table.name}: {why}", download, dataset)
    if dataset is not None and loaded.not_loaded and not loaded.results:
        day, why = next(iter(loaded.not_loaded.items()))
        raise QualityError(f"{loaded.table.name}: {why}", dataset=dataset.name)


def of_sources(download: Download, sources: Sequence[Source]) -> WhyNot:
    """A date is answered when a source was asked, and its answer was not refused."""
    odd = {item: f"{source}: {why}" for source, item, why in download.refused} | download.not_served
    odd |= {day: str(in_words(missing)) for day, missing in download.missing.items()}
    if download.answering:
        return odd.get
    if download.failed:
        return lambda day: f"{download.failed[0]['src']}: {download.failed[0]['reason']}"
    names = ", ".join(dict.fromkeys(source.name for source in sources))
    return lambda day: odd.get(day) or f"none of its sources ({names}) serves {day}"


def of_stage(run: PipelineRun, scope: Scope, dataset: Dataset) -> WhyNot:
    """A date is answered when it is staged."""
    staged = of_tables(run, scope, (dataset.stage_name,), every=True)
    missing = missing_parts.of_stage(run, dataset, scope)
    feeds = ", ".join(dataset.feeds)

    def why_not(day: str) -> str | None:
        if day in missing:
            return in_words(missing[day])
        problem = staged(day)
        return None if problem is None else f"{problem}, from {feeds}"

    return why_not


def of_tables(run: PipelineRun, scope: Scope, names: Iterable[str], *, every: bool) -> WhyNot:
    """A date is answered when one of the tables (`every`: each) is loaded for it, or has it later."""
    tables = list(dict.fromkeys(names))
    loaded = {name: _loaded(run, name, scope) for name in tables}
    now = run.clock.now()

    def why_not(day: str) -> str | None:
        missing = [name for name in tables if day not in loaded[name]]
        if not missing or (not every and len(missing) < len(tables)):
            return None
        if every:
            declared = run.registry.trade_days
            missing = [name for name in missing if declared[name].not_out(day, now, run.calendar) is None]
        return f"nothing is stored of {day}: load {', '.join(missing)} of {day} first" if missing else None

    return why_not


def needed(run: PipelineRun, dataset: Dataset) -> list[str]:
    """The tables by trade date that a calculated table is made from; RAW tables only add to it."""
    declared = run.registry.trade_days
    layers = {table.name: table.layer for table in run.registry.tables}
    return [
        name
        for name in dataset.reads
        if name != dataset.table_name
        and layers[name] is not Layer.RAW
        and declared[name].partition is Partition.TRADE_DATE
    ]


def _loaded(run: PipelineRun, table: str, scope: Scope) -> frozenset[str]:
    return loaded_days(run.warehouse.query, (table,), scope.since, scope.until)
