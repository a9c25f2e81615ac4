"""/quant/recalc: recalculation of a date; admin."""

import re

from core.calendar import FIRST_PARTITION
from core.errors import InputError
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.admin.shared import off_loop
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.quant import schemas
from serving_api.table_lists import trade_date

router = area_router(f"{PREFIX}/quant", "quant: recalculation")

COMMAND = "quant_recalc"
_CODE = re.compile(r"[0-9]{6}")


@router.post("/recalc", schemas.RecalcAccepted, raises=(409,), status_code=202)
async def recalc(call: Admin, body: schemas.RecalculationRequest) -> Answer:
    """Recalculate a date in the background: 202, or 409 while a recalculation is running."""
    wrong = next((code for code in body.codes if not _CODE.fullmatch(code)), None)
    if wrong is not None:
        raise InputError("codes", f"{wrong[:40]!r} is no code of six digits")
    day = None if body.date is None else trade_date(call.state, "date", body.date)
    if day is not None and day < FIRST_PARTITION:
        raise InputError(
            "date", f"{day} is before {FIRST_PARTITION}, the first trade date that is calculated"
        )
    command = await off_loop(_ask, call.state, body, day, call.member.username)
    accepted = {
        "status": "accepted",
        "command_id": command.id,
        "message": "重新计算已开始，请用 command_id 查询",
    }
    return Answer(accepted, status_code=202)


def _ask(state: State, body: schemas.RecalculationRequest, day: str | None, by: str) -> Command:
    args = {"date": day, "codes": body.codes, "parts": list(body.parts)}
    queue = CommandQueue(state.writer.engine)
    return queue.enqueue_alone(COMMAND, {k: v for k, v in args.items() if v}, requested_by=by)
