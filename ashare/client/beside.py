"""What a read of rows takes beside them: which code a former one has become."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from core.declaration.registry import Registry
from core.errors import InputError
from core.market.renumbering import BEIJING, CodeChange, Renumbering, known_changes
from platform_assets.research.factors import provisional_since
from platform_assets.research.known_codes import refuse_unknown
from platform_assets.research.queries import RowQuery, table_named

if TYPE_CHECKING:
    import pyarrow as pa

    from ashare.client.backends import Backend

_CHANGES, _MASTER, _ITEMS = "code_change", "stock_master", "exright_item"
_ALWAYS = "9999-12-31"
"""Whatever the day is: numbers of before a replacement are held under themselves where they are needed."""


class Beside:
    """Small tables of one address, read when a question needs them."""

    def __init__(self, backend: "Backend", registry: Registry) -> None:
        self._backend, self._registry = backend, registry

    def of_today(self, codes: Sequence[str]) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        """(codes as they are today, {from, to, date} of those that were given as a former one). Raises
        InputError for a number that was replaced by an unknown one."""
        changes = []
        found: dict[str, None] = {}
        for code in codes:
            known = self._with_ranges if code.startswith(BEIJING) else self._changes
            try:
                change = known.of(code)
            except ValueError as problem:
                raise InputError("codes", str(problem)) from None
            if change is not None:
                changes.append({"from": code, "to": change.new_code, "date": change.date})
            found[code if change is None else change.new_code] = None
        return tuple(found), changes

    def refuse_unknown(self, query: RowQuery, rows: "pa.Table") -> None:
        """InputError for a code that nobody knows; an API and live judge them themselves."""
        if not self._backend.judges_codes:
            refuse_unknown(self._registry, query, rows, self._backend.rows)

    def provisional(self, as_of: datetime | None) -> dict[str, str]:
        """Codes with an open item in the ledger of ex-rights, or with one that was open at a time -> trade
        date of the first of them."""
        day = None if as_of is None else as_of.date().isoformat()
        items = self._rows(_ITEMS, "code", "date", "opened_on", "closed_on")
        known = [(code, str(date)[:10], _iso(opened), _iso(closed)) for code, date, opened, closed in items]
        return provisional_since(known, day)

    @cached_property
    def _stored(self) -> list[CodeChange]:
        if not self._has(_CHANGES):
            return list(known_changes())
        rows = self._rows(_CHANGES, "code", "new_code", "date")
        return [CodeChange(str(code), str(new), _iso(day)) for code, new, day in rows]

    @cached_property
    def _changes(self) -> Renumbering:
        return Renumbering(self._stored, None, _ALWAYS)

    @cached_property
    def _with_ranges(self) -> Renumbering:
        held = {str(code) for (code,) in self._rows(_MASTER, "code")} if self._has(_MASTER) else None
        return Renumbering(self._stored, held, _ALWAYS)

    def _has(self, name: str) -> bool:
        there = self._backend.tables()
        return there is None or table_named(self._registry, name).name in there

    def _rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Rows of a dataset; none where the address does not have it."""
        if not self._has(name):
            return []
        rows = self._backend.rows(RowQuery(table_named(self._registry, name), columns))
        return list(zip(*(rows[column].to_pylist() for column in columns), strict=True))


def _iso(day: Any) -> str | None:
    return None if day is None else str(day)[:10]
