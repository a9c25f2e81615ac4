"""Parts of a table that its sources bring together (exchanges, lists): which of them nobody brought.

What was brought is written. The batch is `partial` and names what is missing, and its date is not complete:
no partition is materialized, and it is loaded again as every missing date is.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import orjson

from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.scope import Scope
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import Part
from resources.warehouse.ledger.loads import whole_batches
from resources.warehouse.sql import marks

Missing = Mapping[str, Mapping[str, str]]
"""Trade date -> part that nobody brought -> why."""


@dataclass(frozen=True)
class Answer:
    """What a source of parts said: an error, or what it did not answer for (parts, dates) and the dates that
    its rows are of."""

    source: Source
    asked: Collection[str]
    error: str | None
    lacks: Mapping[str, str]
    days: Collection[str]

    def why_not(self, part: str, day: str, is_out: Callable[[str], bool]) -> str | None:
        """Why it has not brought a part of a date; None when it has."""
        why = self.error or self.lacks.get(part) or self.lacks.get(day)
        if why is None and self.source.every_date and day not in self.days and is_out(day):
            why = f"no row of {day}"
        name = self.source.name
        return why if why is None or why.startswith(name) else f"{name}: {why}"


def not_brought(answers: Sequence[Answer], days: Sequence[str], is_out: Callable[[str], bool]) -> Missing:
    """The parts that none of the sources brought that were asked for them."""
    missing: dict[str, dict[str, str]] = {}
    parts = dict.fromkeys(part for answer in answers for part in answer.source.parts)
    for day in days:
        for part in parts:
            own = [one for one in answers if part in one.source.parts and day in one.asked]
            reasons = [one.why_not(part, day, is_out) for one in own]
            if reasons and None not in reasons:
                missing.setdefault(day, {})[part] = "; ".join(map(str, reasons))
    return missing


def in_words(missing: Mapping[str, str]) -> str | None:
    """What a batch lacks; None for one that lacks nothing."""
    parts: dict[str, list[str]] = {}
    for part, why in missing.items():
        parts.setdefault(why, []).append(part)
    are = {why: "is" if len(names) == 1 else "are" for why, names in parts.items()}
    return "; ".join(f"{', '.join(names)} {are[why]} missing ({why})" for why, names in parts.items()) or None


def mark(parts: Sequence[Part], missing: Missing) -> None:
    """Note on what is written what is missing of its date."""
    for part in parts:
        part.missing = missing.get(part.key, {})


def of_feeds(run: PipelineRun, dataset: Dataset, scope: Scope) -> Missing:
    """What no feed of a dataset holds of a date."""
    raws = [run.registry.raws[feed] for feed in dataset.feeds]
    parts = {raw.table_name: _parts(raw) for raw in raws if raw.partition.by_date}
    return _of_tables(run, dataset, parts, scope)


def of_stage(run: PipelineRun, dataset: Dataset, scope: Scope) -> Missing:
    """What the staging table of a dataset lacks of a date."""
    parts = frozenset(part for feed in dataset.feeds for part in _parts(run.registry.raws[feed]))
    return _of_tables(run, dataset, {dataset.stage_name: parts}, scope)


def _parts(raw: Raw) -> frozenset[str]:
    return frozenset(part for source in raw.sources for part in source.parts)


def _of_tables(
    run: PipelineRun, dataset: Dataset, tables: Mapping[str, frozenset[str]], scope: Scope
) -> Missing:
    needed = sorted(frozenset[str]().union(*tables.values()))
    if not needed or scope.codes is not None:
        return {}

    names = [name for name, parts in tables.items() if parts]
    batches = whole_batches(run.warehouse.query, names, scope.since, scope.until)
    lacking = _lacking(run, [one.batch_id for one in batches if one.status == "partial"])
    held: dict[str, set[str]] = {}
    for one in batches:
        # Without its records nothing is known to be there.
        without = lacking.get(one.batch_id, tables[one.table] if one.status == "partial" else frozenset())
        held.setdefault(one.partition_key, set()).update(tables[one.table] - without)
    why = f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} not brought it"
    later, now = run.registry.trade_days[dataset.table_name], run.clock.now()
    return {
        day: dict.fromkeys((part for part in needed if part not in brought), why)
        for day, brought in held.items()
        if not brought.issuperset(needed) and later.not_out(day, now, run.calendar) is None
    }


def _lacking(run: PipelineRun, batches: Sequence[str]) -> dict[str, frozenset[str]]:
    """Batch -> what its records say that nobody brought."""
    if not batches:
        return {}
    rows = run.warehouse.query(
        "SELECT batch_id, natural_key FROM sys_quality_record WHERE check_name='not_served' "
        f"AND natural_key IS NOT NULL AND batch_id IN ({marks(batches)})",
        tuple(batches),
    )
    found: dict[str, set[str]] = {}
    for batch_id, key in rows:
        found.setdefault(str(batch_id), set()).add(str(orjson.loads(key)["answer"]))
    return {batch_id: frozenset(names) for batch_id, names in found.items()}
