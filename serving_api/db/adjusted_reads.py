"""Which values of an answer rest on a provisional factor: noted where the values are read.

The factor of a code is provisional while the ledger of ex-rights has an open item of it: a quoted ratio
stands in for an event that no source has yet. `Session` notes every read of a column that is computed from
adjusted prices (`Dataset.adjusted`) of the item's date or a later one; a cached value keeps what was noted
when it was made.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.declaration.registry import builtin_registry
from platform_assets.research.factors import (
    FINAL,
    ITEMS,
    PROVISIONAL,
    Item,
    days_ahead,
    provisional_since,
    reached,
)

COLUMNS = ("code", "date", "opened_on", "closed_on")
Held = Callable[[str, Set[str]], Set[str]]
"""(table, codes) -> those of the codes that it has rows of; all where its rows have none."""
_NO_COLUMNS: frozenset[str] = frozenset()
_WORD = re.compile(r"\w+")
_OF_CODES = re.compile(r"\bcode\s*(=\s*\?|IN\b)")


@dataclass
class AdjustedReads:
    """`some`: a column of adjusted prices was read; `codes`: those of it whose factor is provisional."""

    some: bool = False
    codes: set[str] = field(default_factory=set)

    @property
    def factor(self) -> str | None:
        """What an answer made from these reads says of its factor; None: it has none."""
        return PROVISIONAL if self.codes else FINAL if self.some else None

    def keep(self, codes: Iterable[str]) -> None:
        """Only these codes are in the answer, of a market that was read."""
        self.codes.intersection_update(codes)

    def add(self, other: "AdjustedReads") -> None:
        self.some |= other.some
        self.codes |= other.codes


_CURRENT: ContextVar[AdjustedReads | None] = ContextVar("adjusted_reads", default=None)


def begin_noting() -> AdjustedReads:
    """What this task reads from now on, and its threads, and the stream that it may answer with."""
    made = AdjustedReads()
    _CURRENT.set(made)
    return made


@contextmanager
def noting() -> Iterator[AdjustedReads]:
    """What is read inside; it counts for what is around as well."""
    outer, inner = _CURRENT.get(), AdjustedReads()
    _CURRENT.set(inner)
    try:
        yield inner
    finally:
        _CURRENT.set(outer)
        if outer is not None:
            outer.add(inner)


@contextmanager
def unnoted() -> Iterator[None]:
    """What is read inside is not noted: rows of a whole market, of which a caller notes what it answers."""
    outer = _CURRENT.get()
    _CURRENT.set(None)
    try:
        yield
    finally:
        _CURRENT.set(outer)


def note(reads: AdjustedReads) -> None:
    """As if these reads were done again: of a value that was kept."""
    current = _CURRENT.get()
    if current is not None:
        current.add(reads)


def with_ledger(tables: tuple[str, ...]) -> tuple[str, ...]:
    """These tables, and the ledger where one of them has columns of adjusted prices: what is made from them
    changes with it."""
    adjusted = builtin_registry().adjusted
    return (*tables, ITEMS) if ITEMS not in tables and any(map(adjusted.__contains__, tables)) else tables


def factor_so_far() -> str | None:
    """What this task would say of the factor of what it has read until now."""
    current = _CURRENT.get()
    return None if current is None else current.factor


class Ledger:
    """The items of the ledger as they were read last."""

    def __init__(self) -> None:
        self.token: str | None = None
        self._items: list[Item] = []
        self._open: dict[str, str] = {}

    def renew(self, token: str | None, rows: Sequence[tuple[Any, ...]]) -> None:
        """Take over `rows` (of `COLUMNS`); `token`: their version."""
        self._items = [(str(code), str(date), opened, closed) for code, date, opened, closed in rows]
        self._open = provisional_since(self._items, None)
        self.token = token

    def provisional(self, as_of: str | None) -> Mapping[str, str]:
        """Codes with an item that is open, or that was at a past time -> date of the first of them."""
        return self._open if as_of is None else provisional_since(self._items, as_of[:10])

    def note_rows(
        self, table: str, columns: Sequence[str], rows: Sequence[Any], code: int | str | None,
        day: int | str | None, sent: Callable[[], tuple[str, Sequence[Any]]], as_of: str | None, held: Held,
    ) -> None:  # fmt: skip
        """Note `rows` of a table, each with its code and day at `code` and `day`. `sent`: the statement that
        chose them, with its values. Where neither names a code, each that the table has rows of may be behind
        a value."""
        current = _CURRENT.get()
        if current is None or not _is_adjusted(table, columns, sent):
            return
        current.some = True
        since = self.provisional(as_of)
        if not since or not rows:
            return
        ahead = _ahead(table)
        if code is not None:
            for row in rows:
                if row[code] in since:
                    until = None if day is None else str(row[day])
                    current.codes |= reached(since, (row[code],), until, ahead)
            return
        by, values = sent()
        named = _OF_CODES.search(by) is not None
        codes = [value for value in values if isinstance(value, str)] if named else held(table, since.keys())
        until = None if day is None else max(str(row[day]) for row in rows)
        current.codes |= reached(since, codes, until, ahead)

    def note_codes(
        self, table: str, columns: Iterable[str], codes: Iterable[str], as_of: str | None,
        until: str | None = None,
    ) -> None:  # fmt: skip
        """Note values of some codes in columns of a table, up to a day."""
        current = _CURRENT.get()
        if current is not None and not adjusted_columns(table).isdisjoint(columns):
            current.some = True
            current.codes |= reached(self.provisional(as_of), codes, until, _ahead(table))

    def note_stored(self, code: str, day: str) -> None:
        """Note what was said of a code on a day, from adjusted prices: it rests on the factor of then."""
        current = _CURRENT.get()
        if current is not None:
            current.some = True
            current.codes |= reached(self.provisional(day), (code,), None)


@cache
def _ahead(table: str) -> int:
    return days_ahead(builtin_registry(), table)


def adjusted_columns(table: str) -> frozenset[str]:
    """The columns of a table that are computed from adjusted prices."""
    return builtin_registry().adjusted.get(table, _NO_COLUMNS)


def _is_adjusted(table: str, columns: Sequence[str], sent: Callable[[], tuple[str, Sequence[Any]]]) -> bool:
    """Whether adjusted prices are behind these columns, or behind the choice of the rows."""
    adjusted = adjusted_columns(table)
    return not adjusted.isdisjoint(columns) or not (adjusted - {"code"}).isdisjoint(_WORD.findall(sent()[0]))
