"""The versions of one row: their order, which one was valid, what changed from one to the next. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.declaration.tables import Table
from serving_api.admin.shared import parse_json
from serving_api.framework.envelope import instant

Version = Mapping[str, Any]
"""A row with `valid_to`: None while it is the current one."""


def chain(current: Version | None, history: Sequence[Version]) -> list[Version]:
    """All versions, oldest first. Two versions with the same start time (a frozen market clock) are ordered
    by which batch replaced which."""
    by_successor = {row["superseded_by"]: row for row in history}
    newest_first: list[Version] = []
    step: Version | None = current
    while step is not None:
        newest_first.append(step)
        step = by_successor.pop(step["batch_id"], None)
    # Versions before a retraction, or without a stored successor.
    rest = [row for row in history if row["superseded_by"] in by_successor]
    return [*rest, *reversed(newest_first)]


def following(old: Sequence[Version], stored: Sequence[Version]) -> list[Version]:
    """Versions of column files and of the warehouse as one series: the warehouse's first one took the place
    of the old row when it was stored; none is left of old rows that came later."""
    if not old or not stored:
        return [*old, *stored]
    first = stored[0]
    if first["created_at"] <= old[-1]["created_at"]:
        return list(stored)
    since = max(first["created_at"], first["valid_from"])
    ended = {**old[-1], "valid_to": since, "superseded_by": first["batch_id"]}
    return [*old[:-1], ended, {**first, "valid_from": since}, *stored[1:]]


def valid_at(versions: Sequence[Version], at: str | None) -> Version | None:
    """The version that was valid at the instant (None = the current one)."""
    if at is None:
        newest = versions[-1] if versions else None
        return newest if newest is not None and newest["valid_to"] is None else None
    return next(
        (
            row
            for row in reversed(versions)
            if row["valid_from"] <= at and (row["valid_to"] is None or row["valid_to"] > at)
        ),
        None,
    )


def decoded(table: Table, name: str, value: Any) -> Any:
    """A stored value as JSON: flags as bool, stored JSON as structure."""
    if value is None:
        return None
    family = table.column(name).family
    if family == "bool":
        return bool(value)
    return parse_json(value, value) if family == "json" else value


def revisions(
    table: Table, versions: Sequence[Version], columns: Iterable[str], until: str | None
) -> list[dict[str, Any]]:
    """[{batch_id, valid_from, valid_to, changed{column: {old, new}}}] newest first, as known at `until`.
    `changed` of the first version is empty."""
    requested = list(columns)
    shown: list[dict[str, Any]] = []
    before: Version | None = None
    for row in versions:
        if until is not None and row["valid_from"] > until:
            break
        changed = {}
        for name in requested:
            old, new = (None if before is None else before[name]), row[name]
            if before is not None and old != new:
                changed[name] = {"old": decoded(table, name, old), "new": decoded(table, name, new)}
        valid = {name: instant(row[name]) for name in ("valid_from", "valid_to")}
        shown.append({"batch_id": row["batch_id"], **valid, "changed": changed})
        before = row
    return shown[::-1]
