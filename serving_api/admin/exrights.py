"""/datamgr/exrights: the ledger of quoted reference prices without an event; admin, enveloped.

The ledger is the platform's: a reason goes there as a command, whose run looks at the item again.
"""

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Query
from pydantic import BaseModel, Field, StrictBool, StringConstraints

from core.calendar import TradeCalendar
from core.errors import InputError
from platform_assets.datasets.exright_item import ExRightItem
from platform_assets.research.factors import ITEMS
from resources.warehouse.ledger.commands import Command
from resources.warehouse.stored import ANY, matching, stored
from serving_api.admin.shared import parse_day
from serving_api.admin.waiting import LATER, carried_out, failure
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.parameters import Code
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.framework.state import State
from serving_api.stocks.queries import MASTER

COMMAND = "exright_reason"
ACCEPTED = "登记已受理，请稍后用 command_id 查询结果"
REASONS = stored("note_exright")
MOST = 500
_SHOWN = (
    ExRightItem.code, ExRightItem.date, ExRightItem.market, ExRightItem.before_date, ExRightItem.close_before,
    ExRightItem.quoted, ExRightItem.expected, ExRightItem.factor, ExRightItem.status, ExRightItem.closed_by,
    ExRightItem.reason, ExRightItem.opened_on, ExRightItem.asked_on, ExRightItem.closed_on,
)  # fmt: skip
Day = Annotated[str, Field(max_length=32, description="date of the item")]


@with_columns(*_SHOWN)
class Item(BaseModel):
    """A trade date on which a quoted reference price was not the stored close."""

    name: str | None
    days_open: int = Field(description="trade dates from the one on which it was found, to today or its end")
    counts: bool | None = Field(
        description="whether the quoted ratio stays in the factor; null without a reason"
    )


class ItemKey(BaseModel):
    model_config = example(extra="forbid", code="600040", date="2026-07-28")
    code: Code
    date: Day


class Reason(ItemKey):
    """`counts`: the quoted ratio stays in the factor of adjusted prices (an event that no source lists); else
    the quote is taken for wrong, and nothing is adjusted by it."""

    model_config = example(
        extra="forbid", code="600040", date="2026-07-28", reason="quote of another share", counts=False
    )
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
    counts: StrictBool


class Recorded(BaseModel):
    """Bars and what is calculated from them follow in commands of their own, where they change."""

    status: Literal["success", "failed"]
    message: str | None
    item: Item | None


router = area_router(f"{PREFIX}/datamgr/exrights", "datamgr: ex-rights")


@router.get("", response_model=list[Item])
@serves(top=[("total", int)], tables=(ITEMS, REASONS))
async def exrights(
    call: Admin,
    status: Annotated[
        Literal["open", "closed"] | None, Query(description="only these; default: all, open ones first")
    ] = None,
) -> Answer:
    """Items of the ledger with their evidence, the newest first; at most 500."""
    items = await call.state.reading.scan(items_of, call.state.calendar, call.state.today, status)
    return Answer({"items": items, "total": len(items)})


@router.post("/reason", response_model=Recorded, responses=LATER)
async def give_reason(call: Admin, body: Reason) -> Answer:
    """Close an open item by a reason, when there is no event to come."""
    command = await carried_out_reason(call.state, body, call.member.username)
    return Answer(await recorded(call.state, body, command))


@router.post("/withdraw", response_model=Recorded, responses=LATER)
async def withdraw_reason(call: Admin, body: ItemKey) -> Answer:
    """Take back the reason of an item, which is open again then."""
    command = await carried_out_reason(call.state, body, call.member.username)
    return Answer(await recorded(call.state, body, command))


async def carried_out_reason(state: State, body: ItemKey, asked_by: str) -> Command:
    """The finished command. Raises InputError for a code or date without such an item; as `carried_out`."""
    args = await checked(state, body)
    return await carried_out(state, COMMAND, args, asked_by, meanwhile=ACCEPTED)


async def checked(state: State, body: ItemKey) -> dict[str, Any]:
    """The arguments of the command. Raises InputError that names what no item has."""
    day = parse_day("date", body.date, state.today)
    given = body if isinstance(body, Reason) else None
    items = await state.reading.point(_of_code, body.code)
    fitting = [date for date, status, by in items if (status == "open" if given else by == "reason")]
    what = "open item" if given else "item that a reason closed"
    if not fitting:
        raise InputError("code", f"{body.code} has no {what}")
    if day not in fitting:
        raise InputError("date", f"{body.code} has no {what} of {day}; it has {', '.join(fitting)}")
    reason = {"reason": None} if given is None else {"reason": given.reason, "counts": given.counts}
    return {"code": body.code, "date": day, **reason}


async def recorded(state: State, body: ItemKey, command: Command) -> dict[str, Any]:
    """The model `Recorded` of a finished command."""
    why = failure(command)
    items = await state.reading.scan(items_of, state.calendar, state.today, None)
    day = command.args["date"]
    item = next((one for one in items if (one["code"], one["date"]) == (body.code, day)), None)
    return {"status": "success" if why is None else "failed", "message": why, "item": item}


def _of_code(session: Session, code: str) -> list[tuple[str, str, str | None]]:
    """(date, status, closed_by) of the items of a code."""
    rows = session.rows(ITEMS, ANY.code == code, columns=("date", "status", "closed_by"), order=["date"])
    return [(str(day), str(status), by) for day, status, by in rows]


def items_of(
    session: Session, calendar: TradeCalendar, today: str, status: str | None
) -> list[dict[str, Any]]:
    """The model `Item`: open items before closed ones, each the newest first."""
    order = [sa.case((ANY.status == "open", 0), else_=1), ANY.date.desc(), ANY.code]
    rows = session.dicts(ITEMS, *matching(ANY.status, status), order=order, limit=MOST)
    codes = sorted({row["code"] for row in rows})
    names = dict(session.of_codes(MASTER, codes, columns=("code", "name")))
    counts = {
        (code, day): bool(one) for code, day, one in session.rows(REASONS, columns=("code", "date", "counts"))
    }
    return [
        {
            **{column.key: row[column] for column in _SHOWN},
            "name": names.get(row["code"]),
            "days_open": len(calendar.between(row["opened_on"], row["closed_on"] or today)),
            "counts": counts.get((row["code"], row["date"])) if row["closed_by"] == "reason" else None,
        }
        for row in rows
    ]
