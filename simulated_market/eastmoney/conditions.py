"""The conditions of a request to the data centre, and what a report makes its rows from."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from simulated_market.corporate import stocks
from simulated_market.memo import FactMemo
from simulated_market.wire import Row, View
from simulated_market.world.model import Security

Fact = TypeVar("Fact")
Clause = tuple[str, str, list[str]]
"""(column, sign, values) of one condition, as in `(SECURITY_CODE in ("600519","000001"))`."""

FIRST, LAST = 19900101, 21000101
"""The dates that a request without conditions over a date column is about."""


class Conditions(tuple[Clause, ...]):
    """The conditions of one request. A report reads from them what it need not make; the rows that it makes
    are compared with all of them afterwards."""

    __slots__ = ()

    def codes(self, *columns: str) -> set[str]:
        """Codes of the securities that are named in one of the columns (SECURITY_CODE alone when none is
        given), without their market; empty when none is named."""
        return {
            value.partition(".")[0]
            for column, sign, values in self
            if column in (columns or ("SECURITY_CODE",)) and sign in {"=", "in"}
            for value in values
        }

    def named(self, listed: Iterable[Security], *columns: str) -> list[Security]:
        """Those of the securities whose codes are named; none when no code is named."""
        codes = self.codes(*columns)
        return [one for one in listed if one.code in codes]

    def between(self, column: str) -> tuple[int, int]:
        """The first and last date that the conditions over a date column leave."""
        since, until = FIRST, LAST
        for _, sign, days in self._dates(column):
            if sign in {"=", ">=", ">", "in"}:
                since = max(since, min(days))
            if sign in {"=", "<=", "<", "in"}:
                until = min(until, max(days))
        return since, until

    def since(self, column: str) -> int:
        """The first date that the conditions over a date column leave."""
        return self.between(column)[0]

    def day(self, column: str) -> int | None:
        """The date that a column must have; None without such a condition."""
        return next((days[0] for _, sign, days in self._dates(column) if sign == "="), None)

    def _dates(self, column: str) -> Iterator[tuple[str, str, list[int]]]:
        for name, sign, values in self:
            days = [value[:10].replace("-", "") for value in values]
            if name == column and all(day.isdigit() for day in days):
                yield name, sign, [int(day) for day in days]


Maker = Callable[[View, Conditions], list[Row]]
"""The rows of a report; those that its conditions leave out may be among them."""


def of_stocks(
    facts_of: Callable[..., Iterable[Fact]],
    row_of: Callable[[Fact, View], Row],
    dated: str = "",
    codes: Sequence[str] = ("SECURITY_CODE",),
) -> Maker:
    """A report with a row for each fact of each company: of the companies that are named in the columns
    `codes`, of all when none is named. `facts_of` takes a view, a company and, where there is a column
    `dated`, the first date that the conditions over it leave."""

    def rows(view: View, conditions: Conditions) -> list[Row]:
        listed = stocks(view)
        asked = conditions.named(listed, *codes) if conditions.codes(*codes) else listed
        since = (conditions.since(dated),) if dated else ()
        return [row_of(one, view) for security in asked for one in facts_of(view, security, *since)]

    return rows


class NewestRows:
    """The rows of the newest request of a day, so that its pages are made once."""

    def __init__(self) -> None:
        self._memo: FactMemo[list[Row]] = FactMemo(1)

    def cached(self, make: Maker) -> Maker:
        return lambda view, conditions: self._memo.of(
            view, (view.now.date(), make, repr(conditions)), lambda: make(view, conditions)
        )
