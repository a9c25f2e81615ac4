"""Conversion of stored rows to facts of a pack."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.declaration.tables import Table
from platform_assets.compute.evidence.facts import Fact, Pack
from serving_api.evidence.parts import Look, Part

Row = Mapping[str, Any]
YES, NO = "是", "否"
MOST_TEXT = 300
"""Longest text that becomes a fact: a longer one cannot be quoted in a sentence."""
_UNITS_OF_MACRO = {"pct": "pct", "yi": "yi"}


def take_row(
    pack: Pack, table: Table, row: Row, columns: Sequence[Look], *, subject: str, before: str = "",
    set_only: bool = False, unit: str | None = None, today: str = "",
) -> int:  # fmt: skip
    """Adds every value of the row as a fact; returns how many. `before` precedes the labels; `unit` is
    that of every number, when the row states it and the declaration cannot."""
    units = {spec.name: spec.unit for spec in table.columns}
    day = table.date_column
    as_of = str(row[day])[:19] if day and row.get(day) else today
    key = {name: str(row[name]) for name in table.key}
    taken = 0
    for name, label, *own in columns:
        value = _plain(row.get(name))
        if value is None or (set_only and value == 0) or name not in units:
            continue
        reported = own[0] if own else units[name] if unit is None else unit
        pack.add(
            subject, f"{before}{label}", value, "" if isinstance(value, str) else reported, table=table.name,
            column=name, as_of=as_of, key=key, row=row,
        )  # fmt: skip
        taken += 1
    return taken


def take_part(pack: Pack, table: Table, part: Part, rows: Sequence[Row], name_of: Mapping[str, str]) -> None:
    """Adds the rows of some companies; for a company without rows the pack records that nothing was found."""
    reported: set[str] = set()
    for row in rows:
        code = str(row["code"])
        before = str(row[part.named_by]) if part.named_by else ""
        if take_row(
            pack, table, row, part.columns, subject=name_of[code], before=before, set_only=part.set_only,
            today=pack.as_of[:10],
        ):  # fmt: skip
            reported.add(code)
    for code, name in name_of.items():
        if code not in reported:
            pack.missing.append(f"{name}的{part.looked_for}")


def _plain(value: Any) -> float | str | None:
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, int | float):
        return value
    text = "" if value is None else str(value).strip()
    return text if 0 < len(text) <= MOST_TEXT else None


def unit_of_series(unit: Any) -> str:
    """Unit of a macro series as the declarations write it; '' for index points and exchange rates."""
    return _UNITS_OF_MACRO.get(str(unit), "")


def fact_of(pack: Pack, table: str, column: str, subject: str | None = None) -> Fact | None:
    """The newest value of a column: packs take rows newest first."""
    return next(iter(facts_of(pack, table, column, subject)), None)


def facts_of(pack: Pack, table: str, column: str, subject: str | None = None) -> list[Fact]:
    """All values of a column, of one company where it is named, newest first."""
    return [
        fact for fact in pack.facts
        if fact.table == table and fact.column == column and subject in (None, fact.subject)
    ]  # fmt: skip
