"""Stored rows for many chunks of one file: each table is read once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from core.declaration.conditions import Condition
from core.declaration.frames import empty_frame
from core.declaration.scope import Reader
from core.market.bars import Dense
from resources.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class KeptReads:
    """Reads of a warehouse (`declaration.scope.Reader`) for work on `codes`, which need no rows of others.
    Tables by code are kept whole, but for `series`, the table that is imported: `known` says whether it has
    rows of the days in question."""

    warehouse: Warehouse
    reader: Reader
    series: str
    known: bool
    codes: tuple[str, ...] = ()
    kept: dict[tuple[str, ...], pd.DataFrame] = field(default_factory=dict)

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
        declared = self.warehouse.table(table)
        if table == self.series and not self.known:
            return empty_frame(tuple(declared.column(name) for name in columns))
        own = self.codes if codes is None else codes
        if table == self.series or as_of is not None or "code" not in declared.names:
            return self.reader(table, columns=columns, codes=own, since=since, until=until, as_of=as_of)
        day = declared.date_column
        names = tuple(dict.fromkeys([*columns, "code", *([day] if day else [])]))
        if (table, *names) not in self.kept:
            self.kept[table, *names] = (
                self.reader(table, columns=names).set_index("code", drop=False).sort_index(kind="stable")
            )
        whole = self.kept[table, *names]
        found = whole[whole.index.isin(list(own))].reset_index(drop=True)
        if day is not None and since is not None:
            found = found[found[day] >= since]
        if day is not None and until is not None:
            found = found[found[day] <= until]
        return found[list(columns)].reset_index(drop=True)

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
        return self.reader.panel(table, columns=columns, since=since, until=until, conditions=conditions)

    def latest(self, table: str, column: str, before: str) -> str | None:
        return self.reader.latest(table, column, before)

    def apart(self) -> Reader:
        return self

    def take_over(self, other: Reader) -> None:
        """Nothing is remembered that a batch names."""
