"""Inputs of notes: stored rows as plain records, as known at the instant of the note."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from core.calendar import TradeCalendar
from core.declaration.scope import Reader
from core.declaration.tables import Table
from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.compute.note_days import reviewed_session

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """A part of a note; `facts` are ids of its evidence."""

    key: str
    title: str
    lines: tuple[str, ...]
    facts: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        return {
            "key": self.key, "title": self.title, "lines": list(self.lines), "evidence": list(self.facts),
        }  # fmt: skip


class Sources:
    """Stored tables for one note. `pack` collects what was taken from them."""

    def __init__(
        self, read: Reader, table: Callable[[str], Table], calendar: TradeCalendar, now: datetime
    ) -> None:
        self._read = read
        self._table = table
        self.calendar = calendar
        self.now = now
        self.today = now.date().isoformat()
        self.pack = Pack(now.strftime("%Y-%m-%d %H:%M:%S"))

    @property
    def last_session(self) -> str:
        """The newest trade date whose bars are expected to be stored."""
        return reviewed_session(self.now, self.calendar)

    def all_rows(self, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Every stored row of a dimension."""
        frame = self._read(table, columns=list(dict.fromkeys((*self._table(table).key, *columns))))
        found: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return found

    def rows(
        self, table: str, columns: Sequence[str], *, since: str, until: str,
        keep: Callable[[pd.DataFrame], pd.Series] | None = None,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Stored rows between two days (both within), with key and audit columns; missing values are None."""
        declared = self._table(table)
        extra = [name for name in ("quality", "batch_id") if name in declared.names]
        requested = list(dict.fromkeys((*declared.key, *columns, *extra)))
        frame = self._read(table, columns=requested, since=since, until=until)
        if keep is not None and len(frame):
            frame = frame[keep(frame)]
        found: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return found

    def take(
        self, table: str, row: Row, column: str, label: str, *, subject: str = "", unit: str | None = None
    ) -> Fact:
        """The value of a row as evidence; its unit is the declaration's unless `unit` says otherwise (the
        declaration has none for counts)."""
        declared = self._table(table)
        spec = next(spec for spec in declared.columns if spec.name == column)
        value = row[column]
        if hasattr(value, "item"):
            value = value.item()
        date = declared.date_column
        return self.pack.add(
            subject, label, value, spec.unit if unit is None else unit, table=table, column=column,
            as_of=str(row[date])[:19] if date and row.get(date) else self.today,
            key={name: str(row[name]) for name in declared.key}, row=row,
        )  # fmt: skip

    def missing(self, what: str) -> None:
        self.pack.missing.append(what)
