"""The jobs `morning_note` and `daily_review`: a note of the day from stored tables, by rules."""

from collections.abc import Callable

import dagster as dg

from platform_assets.declaration.scope import Scope
from platform_assets.notes.notes import Note, morning, review
from platform_assets.notes.sources import Sources
from platform_assets.notes.store import MORNING, REVIEW, store
from platform_assets.op_run import opened_run
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from resources.dagster_resources import PlatformResource
from resources.errors import PlatformError

OUTSIDE = "outside_market"
Write = Callable[[Sources], Note | None]


def sources_of(run: PipelineRun) -> Sources:
    """Stored tables as they are now."""
    return Sources(run.read, run.warehouse.table, run.calendar, run.clock.now())


def _note(context: dg.OpExecutionContext, run: PipelineRun, table: str, write: Write) -> None:
    sources = sources_of(run)
    day = sources.today if table == MORNING else sources.last_session
    note = write(sources)
    if note is None:
        raise dg.Failure(f"nothing is stored that the note of {day} would speak of")
    stored = store(run.warehouse.engine, table, day, note, run.clock.now())
    if not stored:
        context.log.info(f"{day} has a note of another source, which stays")
    context.add_output_metadata(
        {
            "date": day,
            "stored": stored,
            "sections": len(note.sections),
            "evidence": len(note.summary["evidence"]),
            "missing": ", ".join(note.summary["missing"]) or "nothing",
        }
    )


@dg.op
def write_morning_note(context: dg.OpExecutionContext, platform: PlatformResource) -> None:
    with opened_run(context, platform.open(), MORNING) as run:
        try:
            # New York closes after the mainland's last load of the evening.
            load_fused(run, run.registry.dataset(OUTSIDE), Scope((run.calendar.on_or_before(_today(run)),)))
        except PlatformError as error:
            context.log.warning(f"the markets outside are those stored before: {error.message}")
        _note(context, run, MORNING, morning)


@dg.op
def write_daily_review(context: dg.OpExecutionContext, platform: PlatformResource) -> None:
    with opened_run(context, platform.open(), REVIEW) as run:
        _note(context, run, REVIEW, review)


def _today(run: PipelineRun) -> str:
    return run.clock.now().date().isoformat()


# A job that a sensor starts brings its own resource: attached later, Dagster would copy sensor and schedule.
@dg.job(
    name="morning_note",
    description="the note before the session: overnight markets, what is due, headlines, the last session",
    resource_defs={"platform": PlatformResource()},
)
def morning_note_job() -> None:
    write_morning_note()


@dg.job(
    name="daily_review",
    description="the note after the session: indices, breadth, both ends of the list, money, leaders",
    resource_defs={"platform": PlatformResource()},
)
def daily_review_job() -> None:
    write_daily_review()
