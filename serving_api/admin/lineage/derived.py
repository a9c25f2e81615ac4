"""Rows that were computed from our own tables: which stored rows they were computed from.

A batch that asked no upstream has no response. The lineage of its rows continues with the row of the same
key in each table that the dataset reads, in the version that was valid when the batch was written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.declaration.tables import Table
from serving_api.admin.lineage import queries
from serving_api.admin.lineage.revisions import Version, chain
from serving_api.admin.lineage.visited_batches import VisitedBatches
from serving_api.admin.shared import parse_json
from serving_api.db.sessions import Session

_MAX_ROWS = 8


def asked_nobody(batch: Mapping[str, Any]) -> bool:
    """Whether all rows of a batch were computed from stored ones."""
    sources = parse_json(batch["sources_json"], [])
    return bool(sources) and not any(item.get("calls") or item.get("fetch_ids") for item in sources)


def rows_behind(
    session: Session, visited: VisitedBatches, read: Table, own: Table, row: Version, batch: Mapping[str, Any]
) -> list[Version]:
    """Rows of the table `read` that `row` of the table `own` was computed from: of the same code and, where
    the table has dates, of the same date, else of the newest date before it (the bar of an open period has
    a future date), else of the newest date that the batch read. A row that names a date of the other table
    (the report that it shows) was computed from that one. None when the tables share no code."""
    if "code" not in read.key or row.get("code") is None:
        return []
    dated = read.date_column if read.date_column in row else own.date_column
    day = row.get(dated) if dated else None
    found: list[Version] = []
    for until in (day, visited.newest_read(batch, read.name)):
        if not found and (until is not None or read.date_column is None):
            found += queries.rows_until(session, read, str(row["code"]), until, _MAX_ROWS)
    if not read.has_history:
        # A row that carries a source was computed from the rows of that source alone.
        same = [one for one in found if row.get("src") is not None and one.get("src") == row["src"]]
        return same or found
    versions = []
    for current in found:
        key = {name: current[name] for name in read.key}
        every = chain({**current, "valid_to": None}, queries.superseded(session, read, key))
        versions += _version_read(visited, every, read, batch)
    return versions


Behind = tuple[Table, Version]


def key_of(table: Table, row: Version) -> dict[str, Any]:
    return {part: row[part] for part in table.key}


def holder(
    owner: tuple[str, str] | None, column: str, row: Version, behind: Sequence[Behind]
) -> tuple[Table, Version, str] | None:
    """(table, row, column of it) that a computed value was taken from: from its owner; where the owner has no
    value, from the first other row with the same value under the same name (the limits of a bar where a
    quote had none)."""
    if owner is None:
        return None
    owned = [version for read, version in behind if read.name == owner[0] and version[owner[1]] is not None]
    if owned:
        # Of several rows of one date (a stock in several pools) the one with the value.
        chosen = next((one for one in owned if one[owner[1]] == row[column]), owned[0])
        return next(read for read, _ in behind if read.name == owner[0]), chosen, owner[1]
    return next(
        ((read, version, column) for read, version in behind if version.get(column) == row[column]), None
    )


def _version_read(
    visited: VisitedBatches, versions: list[Version], read: Table, batch: Mapping[str, Any]
) -> list[Version]:
    """Of all versions of a row, oldest first, the one that a batch read: the one whose batch is recorded as
    its input, else the newest that existed before it."""
    noted = set(visited.inputs(batch, read.name))
    named = [version for version in versions if version["batch_id"] in noted]
    return (named or [version for version in versions if _was_there(visited, version, batch)])[-1:]


def _was_there(visited: VisitedBatches, version: Version, batch: Mapping[str, Any]) -> bool:
    """Whether a version was written before a batch; True when the version's batch is no longer stored."""
    known = visited.look_up(str(version["batch_id"]))
    return known is None or str(known["started_at"]) <= str(batch["started_at"])
