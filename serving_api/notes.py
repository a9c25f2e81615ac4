"""/notes: the morning note and the daily review; plain."""

import json
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from core.errors import InputError
from platform_assets.compute.note_days import AI, RULES, reviewed_session
from resources.warehouse.stored import ANY, matching
from serving_api.admin.schedule.control import Control
from serving_api.admin.schedule.schemas import TaskRunRequest
from serving_api.db.rows import Row, public_columns, public_rows
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.history_reach import Reach, reach
from serving_api.framework.openapi import IsoDate, IsoTime
from serving_api.framework.parameters import calendar_day
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.settings.language_model import model_of
from serving_api.table_lists import Page, PageSize


class Note(BaseModel):
    date: IsoDate
    title: str | None
    content: str | None = Field(
        description="Markdown; every number is a stored value, or computed from stored values"
    )
    sections: list[Any] = Field(description="{key, title, lines[], evidence[ids]}")
    source: str | None = Field(description="local_rule: written by rules; ai: by a model")
    source_summary: dict[str, Any] = Field(
        description="as_of, tables, missing[], unbound[], evidence[] with links; of ai: model, prompt_hash, "
        "bindings[]; of local_rule: label, and llmError where a model was asked in vain"
    )
    created_at: IsoTime | None
    updated_at: IsoTime | None


class Notes(Reach):
    items: list[Note]
    total: int
    page: int
    page_size: int


class NoteRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}]})

    date: str | None = Field(
        None, max_length=32, description="the day of the note that would be written now; no other is accepted"
    )


class NoteAsked(BaseModel):
    status: str = Field(description="accepted, or failed")
    date: IsoDate
    source: str = Field(description="the author: ai, or local_rule; when a model fails the rules write it")
    runId: str | None
    commandId: int
    message: str


STAMPS = ("created_at", "updated_at")
TABLES = {"morning": "note_morning", "daily-review": "note_daily_review"}


def page_of(
    session: Session, kind: str, date: str | None, limit: int, offset: int
) -> tuple[list[dict[str, Any]], int]:
    """(notes, newest first; total number)."""
    table = TABLES[kind]
    of = [*matching(ANY.date, date or None)]
    columns = [*public_columns(session.table(table)), *STAMPS] if session.has(table) else []
    rows = public_rows(
        session, table, *of, columns=columns, order=[ANY.date.desc()], limit=limit, offset=offset
    )
    return [_reported(row) for row in rows], session.count(table, *of)


def _reported(row: Row) -> dict[str, Any]:
    reported = dict(row)
    sections, summary = reported.pop("sections_json", None), reported.pop("source_summary_json", None)
    reported |= {stamp: instant(reported[stamp]) for stamp in STAMPS}
    return {**reported, "sections": _read(sections, list), "source_summary": _read(summary, dict)}


def _read(text: Any, kind: type) -> Any:
    """A stored JSON value of the given type; an empty one for anything else."""
    value = json.loads(text) if isinstance(text, str) and text else text
    return value if isinstance(value, kind) else kind()


router = area_router(f"{PREFIX}/notes", "notes")

Kind = Literal["morning", "daily-review"]
WrittenKind = Annotated[Kind, Path(description="which note: morning or daily-review")]
Day = Annotated[str | None, Query(description="only the note of this day; YYYY-MM-DD or YYYYMMDD")]
TASKS: dict[str, str] = {"morning": "morning_note", "daily-review": "daily_review"}


@router.get("/morning", response_model=Notes)
@serves(tables=(TABLES["morning"],))
async def morning(call: Anyone, date: Day = None, page: Page = 1, page_size: PageSize = 20) -> Answer:
    """Notes before the session, newest first."""
    return await _notes(call.state, "morning", date, page, page_size)


@router.get("/daily-review", response_model=Notes)
@serves(tables=(TABLES["daily-review"],))
async def daily_review(call: Anyone, date: Day = None, page: Page = 1, page_size: PageSize = 20) -> Answer:
    """Reviews after the session, newest first."""
    return await _notes(call.state, "daily-review", date, page, page_size)


async def _notes(state: State, kind: Kind, date: str | None, page: int, page_size: int) -> Answer:
    day = None if date is None else calendar_day("date", date)
    items, total = await read_or(
        ([], 0), state.reading.scan(page_of, kind, day, page_size, (page - 1) * page_size)
    )
    history = await reach(state, TABLES[kind], total, day=day)
    return Answer({"items": items, "total": total, "page": page, "page_size": page_size, **history})


@router.post("/{kind}/generate", response_model=NoteAsked)
@serves(raises=(404, 409))
async def generate(call: Admin, kind: WrittenKind, body: NoteRequest | None = None) -> Answer:
    """Write the note now: by a model when one is configured, else by rules. A person's note is not
    replaced, and rules do not replace a model's note. 404 while the platform has no such task."""
    state = call.state
    day = day_of(kind, state)
    if body is not None and body.date is not None and calendar_day("date", body.date) != day:
        raise InputError("date", f"a note is written of {day} now; of another day it would know too much")
    asked = await state.part(Control).run(TASKS[kind], TaskRunRequest(), call.member.username)
    source = RULES if await model_of(state) is None else AI
    return Answer(
        {
            **{name: asked[name] for name in ("status", "runId", "commandId", "message")},
            "date": day,
            "source": source,
        }
    )


def day_of(kind: Kind, state: State) -> str:
    """The day of the note that would be written now."""
    now = state.clock.now()
    if kind == "morning":
        return now.date().isoformat()
    return reviewed_session(now, state.calendar)
