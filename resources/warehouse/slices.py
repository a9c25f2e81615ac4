"""Slices of tables for writes and reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resources.warehouse.stored import ANY, Where, within

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

    def conditions(self) -> Iterator[list[Where]]:
        """The conditions of a statement; several times when the codes exceed one statement."""
        shared: list[Where] = []
        if self.date_column is not None:
            day = ANY[self.date_column]
            single = self.since is not None and self.since == self.until
            shared = [day == self.since] if single else within(day, self.since, self.until)
        shared += [ANY[column] == value for column, value in self.equal]
        if self.codes is None:
            yield shared
            return
        for start in range(0, len(self.codes), _CHUNK):
            yield [*shared, ANY[self.code_column].in_(self.codes[start : start + _CHUNK])]
