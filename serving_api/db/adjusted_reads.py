"""Which values of an answer rest on a provisional factor: noted where the values are read.

The factor of a code is provisional while the ledger of ex-rights has an open item of it: a quoted ratio
stands in for an event that no source has yet. `Session` notes every read of a column that is computed from
adjusted prices (`Dataset.adjusted`); a cached value keeps what was noted when it was made.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from core.declaration.registry import builtin_registry
from platform_assets.research.factors import FINAL, ITEMS, PROVISIONAL, Span, provisional_codes

COLUMNS = ("code", "opened_on", "closed_on")
Held = Callable[[str, frozenset[str]], frozenset[str]]
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


class Ledger:
    """The items of the ledger as they were read last."""

    def __init__(self) -> None:
        self.token: str | None = None
        self._spans: list[Span] = []
        self._open: frozenset[str] = frozenset()

    def renew(self, token: str | None, rows: Sequence[tuple[Any, ...]]) -> None:
        """Take over `rows` (of `COLUMNS`); `token`: their version."""
        self._spans = [(str(code), opened, closed) for code, opened, closed in rows]
        self._open = provisional_codes(self._spans, None)
        self.token = token

    def provisional(self, as_of: str | None) -> frozenset[str]:
        """Codes with an item that is open, or that was at a past time."""
        return self._open if as_of is None else provisional_codes(self._spans, as_of[:10])

    def note_rows(
        self, table: str, columns: Sequence[str], rows: Sequence[Any], key: int | str | None, by: str,
        values: Sequence[Any], as_of: str | None, held: Held,
    ) -> None:  # fmt: skip
        """Note `rows` of a table, whose code each holds at `key`. `by`: condition and order that chose them,
        with the `values` of the condition. Where neither names a code, each that the table has rows of may be
        behind a value."""
        current = _CURRENT.get()
        if current is None or not _is_adjusted(table, columns, by):
            return
        current.some = True
        codes = self.provisional(as_of)
        if not codes or not rows:
            return
        if key is not None:
            codes = codes.intersection([row[key] for row in rows])
        elif _OF_CODES.search(by):
            codes = codes.intersection([value for value in values if isinstance(value, str)])
        else:
            codes = held(table, codes)
        current.codes |= codes

    def note_codes(self, table: str, columns: Iterable[str], codes: Iterable[str], as_of: str | None) -> None:
        """Note values of some codes in columns of a table."""
        current = _CURRENT.get()
        if current is not None and not adjusted_columns(table).isdisjoint(columns):
            current.some = True
            current.codes |= self.provisional(as_of).intersection(codes)

    def note_statement(
        self, statement: str, values: Sequence[Any], rows: Sequence[Sequence[Any]], held: Held
    ) -> None:
        """Note the result of a statement of ours, of current rows: the codes that it shows or names, else
        those that its tables have rows of."""
        current = _CURRENT.get()
        if current is None:
            return
        words, adjusted = frozenset(_WORD.findall(statement)), builtin_registry().adjusted
        read = [table for table in words & adjusted.keys() if (adjusted[table] - {"code"}) & words]
        if not read:
            return
        current.some = True
        if not self._open or not rows:
            return
        cells = [cell for row in rows for cell in row if isinstance(cell, str)]
        named = _OF_CODES.search(statement) is not None
        shown = self._open.intersection([*cells, *(one for one in values if named and isinstance(one, str))])
        current.codes |= shown
        if not shown and not named:
            for table in read:
                current.codes |= held(table, self._open)


def adjusted_columns(table: str) -> frozenset[str]:
    """The columns of a table that are computed from adjusted prices."""
    return builtin_registry().adjusted.get(table, _NO_COLUMNS)


def _is_adjusted(table: str, columns: Sequence[str], by: str) -> bool:
    """Whether adjusted prices are behind these columns, or behind the choice of the rows."""
    adjusted = adjusted_columns(table)
    return not adjusted.isdisjoint(columns) or not (adjusted - {"code"}).isdisjoint(_WORD.findall(by))
