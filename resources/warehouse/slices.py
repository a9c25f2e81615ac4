"""Slices of tables for writes and reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resources.warehouse.sql import marks

_CHUNK = 500


@dataclass(frozen=True)
class Slice:
    """Rows of one date, of a date range, of some codes, or all of a table (no condition at all)."""

    date_column: str | None = None
    since: str | None = None
    until: str | None = None
    code_column: str = "code"
    codes: tuple[str, ...] | None = None
    equal: tuple[tuple[str, str], ...] = ()
    """Further (column, value) conditions."""

    @classmethod
    def of_date(cls, column: str, day: str, codes: Sequence[str] | None = None) -> "Slice":
        return cls(date_column=column, since=day, until=day, codes=None if codes is None else tuple(codes))

    @classmethod
    def of_codes(cls, codes: Sequence[str]) -> "Slice":
        return cls(codes=tuple(codes))

    def clauses(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """(WHERE clause with `?` marks, values); several when the codes exceed one statement."""
        conditions: list[str] = []
        values: list[str] = []
        if self.date_column is not None:
            if self.since is not None and self.since == self.until:
                conditions.append(f"{self.date_column}=?")
                values.append(self.since)
            else:
                if self.since is not None:
                    conditions.append(f"{self.date_column}>=?")
                    values.append(self.since)
                if self.until is not None:
                    conditions.append(f"{self.date_column}<=?")
                    values.append(self.until)
        for column, value in self.equal:
            conditions.append(f"{column}=?")
            values.append(value)
        if self.codes is None:
            yield (f" WHERE {' AND '.join(conditions)}" if conditions else "", tuple(values))
            return
        for start in range(0, len(self.codes), _CHUNK):
            chunk = self.codes[start : start + _CHUNK]
            clause = " AND ".join([*conditions, f"{self.code_column} IN ({marks(chunk)})"])
            yield f" WHERE {clause}", (*values, *chunk)
