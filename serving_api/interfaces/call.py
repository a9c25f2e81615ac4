"""One call of an interface, and the meaning of its date parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.calendar import CalendarHorizon, TradeCalendar
from core.declaration.interfaces import Interface
from core.declaration.tables import Table
from core.report_periods import is_period, latest_ended
from resources.warehouse.stored import ANY, Where
from serving_api.db import rows
from serving_api.db.sessions import Session
from serving_api.interfaces.parameters import BadCall


@dataclass(frozen=True)
class InterfaceCall:
    """One call: typed parameters, the instant of knowledge (bound text or None for now), the current time."""

    interface: Interface
    table: Table
    params: Mapping[str, Any]
    as_of: str | None
    today: str
    calendar: TradeCalendar
    now: str

    @property
    def code(self) -> str:
        """The value of the first required parameter."""
        name = next(name for name, parameter in self.interface.params.items() if parameter.required)
        return str(self.params[name])

    @property
    def instant_day(self) -> str:
        """The day of the instant of knowledge."""
        return self.today if self.as_of is None else self.as_of[:10]

    @property
    def moment(self) -> str:
        """The instant of knowledge."""
        return self.now if self.as_of is None else self.as_of

    def bad(self, parameter: str, problem: str) -> BadCall:
        return BadCall(self.interface.name, parameter, problem)


Executor = Callable[[Session, InterfaceCall], Any]


def day_of(session: Session, call: InterfaceCall) -> str | None:
    """The requested date, else the newest stored one; None when nothing is stored."""
    name = next((name for name, parameter in call.interface.params.items() if parameter.kind == "date"), None)
    day: str | None = None if name is None else call.params[name]
    if name is None or day is None:
        return rows.newest_date(session, call.table, call.as_of)
    if day > call.today:
        raise call.bad(name, f"{day} lies in the future")
    if name == "trade_date":
        must_be_trade_date(call, day)
    elif name == "report_period":
        must_be_period(call, day)
    return day


def bounds_of(call: InterfaceCall) -> tuple[str | None, str | None]:
    """`start_date` and `end_date`, either may be None. Raises BadCall when they are in the wrong order."""
    since, until = call.params.get("start_date"), call.params.get("end_date")
    if since and until and since > until:
        raise call.bad("start_date", f"{since} is after end_date {until}")
    return since, until


def past_bounds_of(call: InterfaceCall, *also: str) -> tuple[str | None, str | None]:
    """`bounds_of`. Raises BadCall where one of them, or of the dates `also`, lies in the future."""
    bounds = bounds_of(call)
    for name in ("start_date", "end_date", *also):
        day = call.params.get(name)
        if day is not None and day > call.today:
            raise call.bad(name, f"{day} lies in the future")
    return bounds


def must_be_period(call: InterfaceCall, day: str) -> None:
    if not is_period(day):
        raise call.bad(
            "report_period", f"{day} is no quarter end; the nearest earlier one is {latest_ended(day)}"
        )


def must_be_trade_date(call: InterfaceCall, day: str) -> None:
    try:
        if call.calendar.is_trade_date(day):
            return
        before = call.calendar.on_or_before(day)
    except CalendarHorizon as error:
        raise call.bad("trade_date", error.message) from None
    raise call.bad("trade_date", f"{day} is no trade date; the nearest earlier one is {before}")


def sort_of(call: InterfaceCall) -> str | None:
    """The column that the caller sorts by (`-` = descending), or the interface's own."""
    sort = call.params.get("sort") or call.interface.order or None
    if sort is not None and sort.removeprefix("-") not in rows.public_columns(call.table):
        raise call.bad("sort", f"{sort[:40]!r} is no column of {call.table.name}")
    return sort


def shown_columns(call: InterfaceCall) -> list[str]:
    """The requested columns after those of the key; all of them when none are named."""
    known = rows.public_columns(call.table)
    requested = call.params.get("fields")
    if not requested:
        return known
    wrong = next((name for name in requested if name not in known), None)
    if wrong is not None:
        raise call.bad("fields", f"{wrong[:40]!r} is no column of {call.table.name}")
    return list(dict.fromkeys([*call.table.key, *requested]))


def filters_of(call: InterfaceCall) -> list[Where]:
    """Filters by text columns other than the code: the parameters that have the name of such a column."""
    texts = {spec.name for spec in call.table.columns if spec.family == "text"}
    texts -= {rows.code_column(call.table), call.table.date_column}
    return [ANY[name] == value for name, value in call.params.items() if name in texts and value is not None]
