"""/notes: the morning note and the daily review; plain."""

from typing import Annotated, Literal

from fastapi import Path, Query

from core.errors import InputError
from platform_assets.compute.note_days import AI, RULES, reviewed_session
from serving_api.admin.schedule.control import Control
from serving_api.admin.schedule.schemas import TaskRunRequest
from serving_api.chat.language_model import model_of
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import calendar_day
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.notes import queries, schemas
from serving_api.table_lists import Page, PageSize

router = area_router(f"{PREFIX}/notes", "notes")

Kind = Literal["morning", "daily-review"]
WrittenKind = Annotated[Kind, Path(description="which note: morning or daily-review")]
Day = Annotated[str | None, Query(description="only the note of this day; YYYY-MM-DD or YYYYMMDD")]
TASKS: dict[str, str] = {"morning": "morning_note", "daily-review": "daily_review"}


@router.get("/morning", schemas.Notes, tables=(queries.TABLES["morning"],))
async def morning(call: Anyone, date: Day = None, page: Page = 1, page_size: PageSize = 20) -> Answer:
    """Notes before the session, newest first."""
    return await _notes(call.state, "morning", date, page, page_size)


@router.get("/daily-review", schemas.Notes, tables=(queries.TABLES["daily-review"],))
async def daily_review(call: Anyone, date: Day = None, page: Page = 1, page_size: PageSize = 20) -> Answer:
    """Reviews after the session, newest first."""
    return await _notes(call.state, "daily-review", date, page, page_size)


async def _notes(state: State, kind: Kind, date: str | None, page: int, page_size: int) -> Answer:
    day = None if date is None else calendar_day("date", date)
    items, total = await read_or(
        ([], 0), state.reading.scan(queries.page, kind, day, page_size, (page - 1) * page_size)
    )
    history = await reach(state, queries.TABLES[kind], total, day=day)
    return Answer({"items": items, "total": total, "page": page, "page_size": page_size, **history})


@router.post("/{kind}/generate", schemas.NoteAsked, raises=(404, 409))
async def generate(call: Admin, kind: WrittenKind, body: schemas.NoteRequest | None = None) -> Answer:
    """Write the note now: by a model when one is configured, else by rules. A person's note is not
    replaced, and rules do not replace a model's note. 404 while the platform has no such task."""
    state = call.state
    day = day_of(kind, state)
    if body is not None and body.date is not None and calendar_day("date", body.date) != day:
        raise InputError("date", f"a note is written of {day} now; of another day it would know too much")
    asked = await state.part(Control).run(TASKS[kind], TaskRunRequest(), call.member.username)
    return Answer(
        {
            "status": asked["status"],
            "date": day,
            "source": RULES if await model_of(state) is None else AI,
            "runId": asked["runId"],
            "commandId": asked["commandId"],
            "message": asked["message"],
        }
    )


def day_of(kind: Kind, state: State) -> str:
    """The day of the note that would be written now."""
    now = state.clock.now()
    if kind == "morning":
        return now.date().isoformat()
    return reviewed_session(now, state.calendar)
