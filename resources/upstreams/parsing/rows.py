"""Rows of JSON as tables of fields: the name on the wire, the column, and the reader of the value.

The table gives the columns of the frame, the fields that a request asks for, those that an answer must have,
and the rows. A reader gets a value and what to call it in an error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.frames import Columns, frame
from resources.upstreams.parsing.payload import is_no_day
from resources.upstreams.parsing.payload import required as there

Reader = Callable[[Any, str], Any]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """One field. `column`: beginning with `_` for a value that only the check of the row needs. `always`: the
    name is always in the row, also where its value is missing."""

    wire: str
    column: str
    read: Reader
    always: bool = False

    @property
    def kind(self) -> str:
        """Of the column: 'f' for a reader that returns a number, else 's'."""
        made = getattr(self.read, "func", self.read).__annotations__["return"]
        return "f" if made in {float, int} else "s"


def named(text: str) -> dict[str, str]:
    """`"BPS eps LD current_ratio"` as a name -> the one behind it."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def may(read: Reader, **columns: str) -> tuple[Field, ...]:
    """Fields that are read alike, as `f2="price"`; a column is missing where its field is."""
    return tuple(Field(wire, column, read) for wire, column in columns.items())


def must(read: Reader, **columns: str) -> tuple[Field, ...]:
    """The same fields, which must be in every row."""
    return tuple(Field(wire, column, read, always=True) for wire, column in columns.items())


def kinds_of(table: Iterable[Field]) -> dict[str, str]:
    """Column of a frame of these fields -> its kind."""
    return {one.column: one.kind for one in table if not one.column.startswith("_")}


def values_of(row: Row, table: Iterable[Field], what: str) -> dict[str, Any]:
    """Column -> value. PayloadError when a field that must be there is not."""
    payload.promised(row, (one.wire for one in table if one.always), what)
    return {one.column: one.read(row.get(one.wire), f"{what} {one.wire}") for one in table}


class Table:
    """Rows of securities. `what` they are called in errors, `of` a single one; its column `key` names it.
    `check` raises PayloadError for a row that contradicts itself, and may add the columns `more`. `some`:
    fields of which one is there."""

    def __init__(
        self,
        what: str,
        *groups: Iterable[Field],
        check: Callable[[dict[str, Any], str], None] | None = None,
        more: Columns | None = None,
        some: Sequence[str] = (),
        of: str = "",
        key: str = "code",
    ) -> None:
        self.what = what
        self.fields = tuple(one for group in groups for one in group)
        self.columns = kinds_of(self.fields) | dict(more or {})
        self.wire = tuple(one.wire for one in self.fields)
        self._key = next(one for one in self.fields if one.column == key)
        self._always = tuple(one.wire for one in self.fields if one.always)
        self._check, self._some, self._of = check, some, of or what

    def read(self, row: Row) -> dict[str, Any]:
        """The values of one row, also those that only the check needs."""
        payload.promised(row, self._always, self.what)
        if self._some:
            payload.some_of(row, self._some, self.what)
        values = {self._key.column: self._key.read(row[self._key.wire], self.what)}
        what = f"{self._of} {values[self._key.column]}"
        for one in self.fields:
            if one is not self._key:
                values[one.column] = one.read(row.get(one.wire), f"{what} {one.wire}")
        if self._check is not None:
            self._check(values, what)
        return values

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The columns of every row. PayloadError for one that cannot be read or contradicts itself."""
        return frame([self.read(row) for row in rows], self.columns)


# -- readers that many tables share -------------------------------------------------------------------


def needed(read: Callable[[Any, str], float]) -> Reader:
    """`read`, of a value that is never missing."""

    def of_value(value: Any, what: str) -> float:
        return there(read(value, what), what)

    return of_value


def count(value: Any, what: str) -> int:
    """A whole number that is never missing."""
    return payload.whole(payload.number(value, what), what)


def not_zero(read: Callable[[Any, str], float]) -> Reader:
    """`read`, where 0 says that there is none."""

    def of_value(value: Any, what: str) -> float:
        return payload.nothing_to_missing(read(value, what))

    return of_value


def unread(value: Any, what: str) -> None:
    """For a field that is asked for and of no use."""


def code_of(value: Any, what: str) -> str:
    """Six digits or letters."""
    return _code(value, what, 6, str.isalnum)


def security_code(value: Any, what: str) -> str:
    """Six digits."""
    return _code(value, what, 6, str.isdigit)


def padded_code(text: str, what: str) -> str:
    """Six digits: a number in its cell has lost leading zeros."""
    code = text.zfill(6)
    if len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what}: {text[:20]!r} is no code")
    return code


def hk_code(value: Any, what: str) -> str:
    """Five digits."""
    return _code(value, what, 5, str.isdigit)


def _code(value: Any, what: str, length: int, accepted: Callable[[str], bool]) -> str:
    code = payload.string_of(value, f"{what} code")
    if len(code) != length or not code.isascii() or not accepted(code):
        raise PayloadError(f"{what} is no code: {code[:20]!r}")
    return code


def day_of(value: Any, what: str) -> str:
    """The date of `2026-07-28 00:00:00`."""
    return payload.iso_day(payload.string_of(value, what)[:10], what)


def day_or_none(value: Any, what: str) -> str | None:
    """The same; None where there is none yet."""
    return None if value is None or (isinstance(value, str) and is_no_day(value)) else day_of(value, what)


def text_or_none(value: Any, what: str) -> str | None:
    """A text without surrounding blanks; None where there is none."""
    return None if value is None else payload.string_of(value, what).strip() or None


def stripped(value: Any, what: str) -> str:
    """A text without surrounding blanks."""
    return payload.string_of(value, what).strip()


def text_of(value: Any, what: str) -> str:
    """A text without surrounding blanks that is not empty."""
    text = payload.string_of(value, what).strip()
    if not text:
        raise PayloadError(f"{what} is empty")
    return text


def share_pct(value: Any, what: str) -> float:
    """A share in percent; more than everything is another column or unit."""
    result = payload.number(value, what)
    if result < 0 or result > 100:
        raise PayloadError(f"{what} is no share in percent: {value!r}")
    return result
