"""A pack of evidence: stored values with their place, unit and time, numbered so that a text cites them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

LINEAGE = "/api/v1/datamgr/lineage"
COUNT = "count"
"""Unit of what is counted: stocks, sessions, announcements."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
RATIO = ""
"""Unit of a plain number: a ratio, a score, index points."""


@dataclass(frozen=True)
class Fact:
    """One stored value. `subject` is whom it is of (a name that a text uses; empty: the market), `as_of` the
    day or time that it is of, `unit` as the declaration writes it, `link` where its lineage is read; `key` is
    empty for what was counted over several rows."""

    id: str
    subject: str
    label: str
    value: float | str | None
    unit: str
    table: str
    key: Mapping[str, Any]
    column: str
    as_of: str
    quality: str | None = None
    batch_id: str | None = None

    @property
    def number(self) -> float | None:
        return self.value if isinstance(self.value, int | float) else None

    @property
    def link(self) -> str | None:
        if not self.key:
            return None
        return f"{LINEAGE}/{self.table}?{urlencode({**self.key, 'column': self.column})}"

    def plain(self) -> dict[str, Any]:
        """The fact as it is stored with a text."""
        return {**vars(self), "key": dict(self.key), "link": self.link}


@dataclass
class Pack:
    """The evidence of one question, as known at `as_of` (local exchange time)."""

    as_of: str
    facts: list[Fact] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Missing inputs, in words."""

    def add(
        self, subject: str, label: str, value: Any, unit: str, *, table: str, column: str, as_of: str,
        key: Mapping[str, Any] | None = None, row: Mapping[str, Any] | None = None,
    ) -> Fact:  # fmt: skip
        """Adds a value as a fact; `row` is the stored row that it is from, for its quality and its batch."""
        reported = row or {}
        fact = Fact(
            f"E{len(self.facts) + 1}", subject, label, value, unit, table, dict(key or {}), column, as_of,
            quality=reported.get("quality"), batch_id=reported.get("batch_id"),
        )  # fmt: skip
        self.facts.append(fact)
        return fact

    @property
    def subjects(self) -> set[str]:
        return {fact.subject for fact in self.facts if fact.subject}

    @property
    def days(self) -> set[str]:
        """Every day that a fact is of or says (a day of release, say), and that of the question."""
        said = {
            value for fact in self.facts if isinstance(value := fact.value, str) and _DAY.fullmatch(value)
        }
        of_keys = {str(value)[:10] for fact in self.facts for value in fact.key.values()}
        return {
            self.as_of[:10],
            *(fact.as_of[:10] for fact in self.facts),
            *said,
            *(day for day in of_keys if _DAY.fullmatch(day)),
        }

    def of(self, ids: Sequence[str]) -> Iterator[Fact]:
        """The facts of these ids; unknown ids are left out."""
        found = {fact.id: fact for fact in self.facts}
        return (found[one] for one in ids if one in found)
