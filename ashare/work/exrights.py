"""What `ashare exrights` does."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ashare.output import Output, table
from ashare.session import BY, need_worker, with_state
from ashare.waiting import finished
from core.errors import InputError
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.admin.exrights import COMMAND, ItemKey, Reason, checked, items_of, recorded
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

_COLUMNS = ("code", "name", "date", "quoted", "close_before", "factor", "days_open", "closed_by", "reason")


def show(out: Output, closed: bool) -> None:
    """List the open items, or the closed ones."""
    status = "closed" if closed else "open"

    async def read(state: State) -> list[dict[str, Any]]:
        return await state.reading.scan(items_of, state.calendar, state.today, status)

    items = with_state(read)
    out.result(items, table(items, _COLUMNS) or [f"no item is {status}"])


def record(out: Output, given: Mapping[str, Any]) -> int:
    """Close an item by its reason, or open it again without one; the exit code."""
    body = _body(given)
    asked = with_state(lambda state: _asked(state, body))
    done = finished(asked.id, out.note)
    answer = with_state(lambda state: recorded(state, body, done))
    item = answer["item"]
    line = f"{item['code']} {item['date']}: {item['status']}" if item else str(answer["message"])
    out.result({"command_id": done.id, **answer}, [line])
    return int(answer["status"] != "success")


def _body(given: Mapping[str, Any]) -> ItemKey:
    """InputError that names the argument for a value that cannot be one."""
    try:
        return (Reason if "reason" in given else ItemKey).model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(str(first["loc"][0]), str(first["msg"])) from None


async def _asked(state: State, body: ItemKey) -> Command:
    need_worker(state)
    args = await checked(state, body)
    return await off_loop(CommandQueue(state.writer.engine).enqueue, COMMAND, args, requested_by=BY)
