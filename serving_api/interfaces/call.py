"""One call of an interface, and what its parameters of time mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.calendar import CalendarHorizon, TradeCalendar
from core.declaration.rules import Interface
from core.declaration.tables import Table
from core.report_periods import is_period, latest_ended
from serving_api.db.sessions import Session
from serving_api.interfaces import queries
from serving_api.interfaces.parameters import BadCall


@dataclass(frozen=True)
class Question:
    """One call: typed parameters, the instant of its knowledge (bound text or None), now."""

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
        name = next(name for name, (_, required, _) in self.interface.params.items() if required)
        return str(self.params[name])

    @property
    def instant_day(self) -> str:
        """The day of its knowledge."""
        return self.today if self.as_of is None else self.as_of[:10]

    @property
    def moment(self) -> str:
        """The instant of its knowledge."""
        return self.now if self.as_of is None else self.as_of

    def bad(self, parameter: str, problem: str) -> BadCall:
        return BadCall(self.interface.name, parameter, problem)


Executor = Callable[[Session, Question], Any]


def day_of(session: Session, asked: Question) -> str | None:
    """The date that is asked for, else the newest stored one; None where nothing is stored."""
    name = next((name for name, (kind, _, _) in asked.interface.params.items() if kind == "date"), None)
    day: str | None = None if name is None else asked.params[name]
    if name is None or day is None:
        return queries.newest_date(session, asked.table, asked.as_of)
    if day > asked.today:
        raise asked.bad(name, f"{day} lies in the future")
    if name == "trade_date":
        must_be_trade_date(asked, day)
    elif name == "report_period":
        must_be_period(asked, day)
    return day


def bounds_of(asked: Question) -> tuple[str | None, str | None]:
    """`start_date` and `end_date`, in their order."""
    since, until = asked.params.get("start_date"), asked.params.get("end_date")
    if since and until and since > until:
        raise asked.bad("start_date", f"{since} is after end_date {until}")
    return since, until


def must_be_period(asked: Question, day: str) -> None:
    if not is_period(day):
        raise asked.bad(
            "report_period", f"{day} is no quarter end; the nearest earlier one is {latest_ended(day)}"
        )


def must_be_trade_date(asked: Question, day: str) -> None:
    try:
        if asked.calendar.is_trade_date(day):
            return
        before = asked.calendar.on_or_before(day)
    except CalendarHorizon as error:
        raise asked.bad("trade_date", error.message) from None
    raise asked.bad("trade_date", f"{day} is no trade date; the nearest earlier one is {before}")


def sort_of(asked: Question) -> str | None:
    """The column that the caller sorts by (`-` = descending), or the interface's own."""
    sort = asked.params.get("sort") or asked.interface.order or None
    if sort is not None and sort.removeprefix("-") not in queries.public_columns(asked.table):
        raise asked.bad("sort", f"{sort[:40]!r} is no column of {asked.table.name}")
    return sort


def columns_of(asked: Question) -> list[str]:
    """The wanted columns, behind those of the key; all of them when none are named."""
    known = queries.public_columns(asked.table)
    requested = asked.params.get("fields")
    if not requested:
        return known
    wrong = next((name for name in requested if name not in known), None)
    if wrong is not None:
        raise asked.bad("fields", f"{wrong[:40]!r} is no column of {asked.table.name}")
    return list(dict.fromkeys([*asked.table.key, *requested]))


def filters_of(asked: Question) -> dict[str, str]:
    """Parameters that bear the name of a text column beside the code: only rows with that value."""
    texts = {spec.name for spec in asked.table.columns if spec.family == "text"}
    texts -= {queries.code_column(asked.table), asked.table.date_column}
    return {name: value for name, value in asked.params.items() if name in texts and value is not None}
