"""How far back the table of an interface reaches, for calls about the past."""

from collections.abc import Sized
from typing import Any

from resources.warehouse.stored import ANY, matching
from serving_api.db.first_dates import first_date
from serving_api.db.rows import code_column
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall

_SPANS = ("start_date", "days", "periods", "limit")
"""Parameters that say how much of the past is requested."""
_LATER = ("start_date", "end_date")


def reached(session: Session, call: InterfaceCall, value: Any) -> dict[str, Any]:
    """`first_date` (of the requested code, else of the table), and `note` when the answer is shorter than
    requested; empty for an interface without a past."""
    kinds = call.interface.params
    days = [name for name, parameter in kinds.items() if parameter.kind == "date" and name not in _LATER]
    code = next((name for name, parameter in kinds.items() if parameter.required), None)
    looks_back = any(name in kinds for name in ("start_date", "days", "periods")) or bool(days)
    if call.table.date_column is None or not (looks_back or (code is not None and "limit" in kinds)):
        return {}
    column = _column(call, code)
    if code is not None and column is None:
        return {}
    whose = None if code is None else str(call.params[code])
    first = first_date(session, call.table.name, *matching(ANY[column or "code"], whose))
    return {"first_date": first, "note": _note(call, first, value, whose, days)}


def _column(call: InterfaceCall, name: str | None) -> str | None:
    """The column that the required parameter filters; None when it holds several values."""
    if name is None or isinstance(call.params[name], list):
        return None
    if name in call.table.names:
        return name
    column = code_column(call.table)
    return column if name.endswith("code") and column in call.table.names else None


def _note(
    call: InterfaceCall, first: str | None, value: Any, whose: str | None, days: list[str]
) -> str | None:
    given = len(value) if isinstance(value, Sized) else int(value is not None)
    if first is None:
        return None if given else f"nothing is stored{f' of {whose}' if whose else ''}"
    reported = f"the first stored date is {first}"
    since = call.params.get("start_date")
    if since is not None:
        return f"asked from {since}; {reported}" if since < first else None
    day = next((call.params[name] for name in days if call.params[name] is not None), None)
    if day is not None:
        return None if given else f"nothing is stored of {day}; {reported}"
    span = call.params.get("days")
    if span is not None:
        return (
            f"asked for {span} days; {reported}" if call.calendar.last(span, call.today)[0] < first else None
        )
    most = next((call.params[name] for name in _SPANS if call.params.get(name) is not None), None)
    if most is not None and given < most:
        return f"{given} of at most {most} are stored; {reported}"
    return None
