"""The jobs `morning_note` and `daily_review`: a note of the day from stored tables, in the words of a model
where one is configured, else by rules."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import dagster as dg

from core.declaration.scope import Scope
from core.errors import PlatformError
from platform_assets.definitions.one_op_jobs import one_op_job
from platform_assets.notes.by_model import write as write_by_model
from platform_assets.notes.market import names_of
from platform_assets.notes.notes import Note, morning, review
from platform_assets.notes.sources import Sources
from platform_assets.notes.store import MORNING, REVIEW, store
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from resources.composition import Platform
from resources.models.factory import language_models
from resources.models.fallback import ConfiguredModels
from resources.models.stored import stored_providers
from resources.stored_settings import read_stored

OUTSIDE = "outside_market"
PREFILL = "quant_prefill"
"""The fallback for a model that cannot be asked (specification, errors)."""
Write = Callable[[Sources], Note | None]


def sources_of(run: PipelineRun) -> Sources:
    """Stored tables as they are now."""
    return Sources(run.read, run.warehouse.table, run.calendar, run.clock.now())


def _note(
    context: dg.OpExecutionContext, opened: Platform, run: PipelineRun, table: str, write: Write
) -> None:
    sources = sources_of(run)
    day = sources.today if table == MORNING else sources.last_session
    note = write(sources)
    if note is None:
        raise dg.Failure(f"nothing is stored that the note of {day} would speak of")
    note = in_words(context, opened, sources, note)
    stored = store(run.warehouse.engine, table, day, note, run.clock.now())
    if not stored:
        context.log.info(f"{day} has a note of another source, which stays")
    context.add_output_metadata(
        {
            "date": day,
            "source": note.source,
            "stored": stored,
            "sections": len(note.sections),
            "evidence": len(note.summary["evidence"]),
            "missing": ", ".join(note.summary["missing"]) or "nothing",
        }
    )


def in_words(context: dg.OpExecutionContext, opened: Platform, sources: Sources, rules: Note) -> Note:
    """A model's note from the same pack; where that cannot be had, the note of rules, which says why."""
    settings = opened.settings
    models = language_models(settings, stored_providers(settings, read_stored(opened.warehouse.engine)))
    if models is None:
        return rules

    async def ask(models: ConfiguredModels) -> Note:
        try:
            return await write_by_model(models, rules, sources.pack, set(names_of(sources).values()))
        finally:
            await models.close()

    try:
        return asyncio.run(ask(models))
    except PlatformError as error:
        context.log.warning(f"by rules, since no model wrote it: {error.message}")
        reported = {"llmError": error.message, "fallbackOf": PREFILL}
        return replace(rules, summary={**rules.summary, **reported})


_MORNING = "the note before the session: overnight markets, what is due, headlines, the last session"
_REVIEW = "the note after the session: indices, breadth, both ends of the list, money, leaders"


@one_op_job("morning_note", "write_morning_note", _MORNING)
def morning_note_job(context: dg.OpExecutionContext, opened: Platform, run: PipelineRun) -> None:
    try:
        # New York closes after the mainland's last load of the evening.
        today = run.calendar.on_or_before(run.clock.now().date().isoformat())
        load_fused(run, run.registry.dataset(OUTSIDE), Scope((today,)))
    except PlatformError as error:
        context.log.warning(f"the markets outside are those stored before: {error.message}")
    _note(context, opened, run, MORNING, morning)


@one_op_job("daily_review", "write_daily_review", _REVIEW)
def daily_review_job(context: dg.OpExecutionContext, opened: Platform, run: PipelineRun) -> None:
    _note(context, opened, run, REVIEW, review)
