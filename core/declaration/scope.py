"""What a piece of work is about, and what it may look at while working."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import pandas as pd

from core.days import moved
from core.declaration.conditions import Condition
from core.market.bars import Dense


@dataclass(frozen=True)
class Scope:
    """Trade dates (ISO text, ascending) and, unless the whole market is meant, codes."""

    dates: tuple[str, ...]
    codes: tuple[str, ...] | None = None
    late: int = 0
    """How many of the first dates are there only because figures of theirs came out now."""
    closed_until: str | None = None
    """The last of the days without trading after the last date whose events are known by now."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The dates without the late ones."""
        return self.dates[self.late :]

    @property
    def since(self) -> str:
        return self.dates[0]

    @property
    def until(self) -> str:
        return self.dates[-1]

    @property
    def span(self) -> dict[str, str]:
        """Its first and last date as `Reader` takes them: `read(table, columns=names, **scope.span)`."""
        return {"since": self.since, "until": self.until}

    @property
    def is_range(self) -> bool:
        return len(self.dates) > 1

    def with_late(self, late: int, calendar: "Calendar") -> "Scope":
        """This scope and the `late` trade dates before it, whose figures are published only now."""
        if not late:
            return self
        before = calendar.last(late + 1, self.since)[:-1]
        return replace(self, dates=(*before, *self.dates), late=self.late + len(before))

    def with_closed_days(self, today: str, calendar: "Calendar") -> "Scope":
        """This scope with the days without trading up to `today`, where no trade date has come since its last
        one: their events belong to the next one, and somebody asks for them before it is there."""
        known = self.until < today <= calendar.horizon
        if not known or calendar.on_or_before(today) != self.until:
            return self
        return replace(self, closed_until=today)

    def event_days(self, calendar: "Calendar") -> tuple[str, str]:
        """First and last of the calendar days that belong to the trade dates: days without trading belong to
        the next trade date, and to the last one until that has come."""
        return moved(calendar.offset(self.since, -1), 1), self.closed_until or self.until

    def code_groups(self, size: int = 100) -> tuple[tuple[str, ...] | None, ...]:
        """The codes, as many at a time as one filter of a report holds; `(None,)` for the whole market."""
        return (None,) if self.codes is None else self.named_groups(size)

    def named_groups(self, size: int = 100) -> tuple[tuple[str, ...], ...]:
        """The codes, as many at a time as one filter of a report holds; none for the whole market."""
        codes = self.codes or ()
        return tuple(codes[at : at + size] for at in range(0, len(codes), size))

    def covers(self, code: str) -> bool:
        return self.codes is None or code in self.codes

    @property
    def of_indices(self) -> "Scope":
        """The same dates of the indices among the codes; of the whole market where there are none."""
        indices = tuple(code for code in self.codes or () if not code.isdigit())
        return replace(self, codes=indices or None)

    @property
    def whole(self) -> "Scope":
        """The same dates of the whole market."""
        return replace(self, codes=None)


class Calendar(Protocol):
    """The part of the trade calendar that declarations use."""

    @property
    def horizon(self) -> str: ...

    @property
    def confirmed_until(self) -> str: ...

    def is_confirmed(self, day: str) -> bool: ...

    def is_trade_date(self, day: str) -> bool: ...

    def on_or_before(self, day: str) -> str: ...

    def on_or_after(self, day: str) -> str: ...

    def offset(self, day: str, steps: int) -> str: ...

    def between(self, start: str, end: str) -> list[str]: ...

    def last(self, count: int, end: str) -> list[str]: ...


class Reader(Protocol):
    """Reads of stored tables, cut at what the work may know."""

    def __call__(
        self,
        table: str,
        *,
        columns: Sequence[str],
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        noted: Sequence[str] = (),
        as_of: str | None = None,
    ) -> pd.DataFrame:
        """What is made of rows by date names the batches of the dates `noted` (default the newest one).
        `as_of`: the versions of an instant, of a table that keeps them."""
        ...

    def panel(
        self,
        table: str,
        *,
        columns: Sequence[str],
        since: str,
        until: str,
        conditions: Sequence[Condition] = (),
        noted: Sequence[str] = (),
    ) -> Dense:
        """Numbers of a series of the whole market, of rows that meet the conditions. What is made from it
        names the batches of the dates `noted` (default the newest one)."""
        ...

    def latest(self, table: str, column: str, before: str) -> str | None:
        """The newest day in a column before a given day; of `confirmed_at` the day of the table's last
        successful batch. StorageError when it cannot be read."""
        ...

    def apart(self) -> "Reader":
        """The same tables for a read that several loads share."""
        ...

    def take_over(self, other: "Reader") -> None:
        """Count the reads of `other` as reads of this one; a repeated call changes nothing."""
        ...


@dataclass
class Context:
    """Given to staging, derivation and checks. Holds no connection and no client."""

    scope: Scope
    now: str
    calendar: Calendar
    read: Reader
    notes: dict[str, Any] = field(default_factory=dict)
    """Facts that one derivation leaves for the checks after it."""

    @property
    def today(self) -> str:
        return self.now[:10]

    def stored_column(
        self, rows: pd.DataFrame, table: str, column: str, *, trusted: bool = False
    ) -> pd.Series:
        """`column` of another table on each row's own code and trade date; null where it has none, and with
        `trusted` where that row is flagged by a check."""
        names = ("code", "date", column, *(("quality",) if trusted else ()))
        stored = self.read(table, columns=names, since=self.scope.since, until=self.scope.until)
        if trusted:
            stored = stored[stored["quality"] == "ok"].drop(columns="quality")
        joined = rows[["code", "date"]].merge(stored, how="left", on=["code", "date"])
        return joined[column].set_axis(rows.index)

    def on_day_before(self, rows: pd.DataFrame, table: str, column: str) -> pd.Series:
        """`column`, a number, of each row's own code on the trade date before its own: read from `rows`
        first, then from their stored `table`; null where neither has it."""
        # On the first date of the calendar there is none before.
        pairs = {day: self.calendar.last(2, str(day)) for day in rows["date"].unique()}
        before = {day: pair[0] for day, pair in pairs.items() if len(pair) == 2}
        columns = ["code", "date", column]
        since = min(before.values(), default=self.scope.since)
        stored = self.read(table, columns=columns, since=since, until=self.scope.until)
        known = pd.concat([stored, rows[columns]], ignore_index=True)
        known = known.drop_duplicates(["code", "date"], keep="last")
        asked = pd.DataFrame({"code": rows["code"], "date": rows["date"].map(before)})
        joined = asked.merge(known, how="left", on=["code", "date"])
        return joined[column].astype(float).set_axis(rows.index)
