"""SQL of lineage: versions of a row, staged and RAW rows of a key, responses of a batch.

Identifiers come from declarations, values are bound.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import sqlalchemy as sa

from core.declaration.tables import Table
from resources.warehouse.stored import ANY, Where, matching, select, stored
from serving_api.admin.lineage.bodies import whole_word
from serving_api.db.sessions import Session

FETCH = stored("sys_fetch")
_CHUNK = 200
_FETCH_COLUMNS = (
    "fetch_id batch_id upstream call_name request codes_or_page http_status outcome byte_count sha256 "
    "body_path received_at"
).split()
_FED = FETCH.c.outcome == "ok"
"""Only a response with rows can have contributed to a stored value."""


def _match(key: Mapping[str, Any]) -> list[Where]:
    return [ANY[name] == value for name, value in key.items()]


def current(session: Session, table: Table, key: Mapping[str, Any]) -> dict[str, Any] | None:
    found = session.dicts(table.name, *_match(key))
    return found[0] if found else None


def superseded(session: Session, table: Table, key: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the history, oldest first, with `valid_to` and `superseded_by`."""
    names = (*table.names, "valid_to", "superseded_by")
    versions = select(table.history_name, *(ANY[name] for name in names))
    rows = session.run(versions.where(*_match(key)).order_by(ANY.valid_from, ANY.valid_to))
    return [dict(zip(names, row, strict=True)) for row in rows]


def old_versions(session: Session, table: Table, key: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Versions of a row that are in column files, oldest first, as those of the history are; the last one
    without an end."""
    if set(key) != {"code", "date"}:
        return []
    found = session.old_versions(table, key)
    return [{**one, "valid_to": one["valid_to"] if one["superseded_by"] else None} for one in found]


def rows_of(
    session: Session, table: Table, key: Mapping[str, Any], sources: Sequence[str], limit: int
) -> list[dict[str, Any]]:
    """Rows matching the columns of `key` that the table has, of some sources (none = all), newest first."""
    requested = {name: value for name, value in key.items() if name in table.names}
    if not requested:
        return []
    where = [*_match(requested), *matching(ANY.src, sources or None)]
    return session.dicts(table.name, *where, order=[ANY.imported_at.desc()], limit=limit)


def rows_until(
    session: Session, table: Table, code: str, day: str | None, limit: int
) -> list[dict[str, Any]]:
    """Rows of a code on the newest date that is not after `day`; of a table without dates, all its rows."""
    column = table.date_column
    if column is None or day is None:
        return session.dicts(table.name, ANY.code == code, limit=limit)
    of = [ANY.code == code, ANY[column] <= day]
    newest = session.rows(table.name, *of, columns=(column,), order=[ANY[column].desc()], limit=1)
    if not newest:
        return []
    return session.dicts(table.name, ANY.code == code, ANY[column] == newest[0][0], limit=limit)


def pattern(session: Session, pattern_id: int) -> str | None:
    """The JSON of a provenance pattern."""
    found = session.dicts("sys_provenance", ANY.id == pattern_id)
    return str(found[0]["pattern"]) if found else None


def responses(
    session: Session,
    batch_ids: Sequence[str],
    fetch_ids: Sequence[str],
    upstreams: Sequence[str],
    *,
    naming: str | None,
    limit: int,
) -> list[dict[str, Any]]:
    """Responses of these batches, and those with these ids, of the given upstreams (none = all), oldest
    first. `naming`: only those whose request or label contains this text as a whole number or word."""
    found: dict[str, dict[str, Any]] = {}
    for column, ids in (("batch_id", batch_ids), ("fetch_id", fetch_ids)):
        for chunk in _chunks(ids):
            where = [ANY[column].in_(chunk), _FED, *matching(FETCH.c.upstream, upstreams or None)]
            if naming is not None:
                texts = (FETCH.c.request, FETCH.c.codes_or_page)
                where.append(sa.or_(*(sa.func.instr(text, naming) > 0 for text in texts)))
            order = [FETCH.c.received_at, FETCH.c.fetch_id]
            rows = session.dicts(FETCH, *where, columns=_FETCH_COLUMNS, order=order, limit=limit)
            whole = None if naming is None else whole_word(naming)
            found |= {row["fetch_id"]: row for row in rows if whole is None or whole.search(asked_text(row))}
    ordered = sorted(found.values(), key=lambda row: (row["received_at"], row["fetch_id"]))
    return ordered[:limit]


def asked_text(response: Mapping[str, Any]) -> str:
    """The request of a response in plain characters: the quotes in `%272026-08-21%27` are not digits."""
    return f"{unquote(response['request'] or '')}\n{response['codes_or_page']}"


def _chunks(ids: Iterable[str]) -> list[tuple[str, ...]]:
    known = list(dict.fromkeys(ids))
    return [tuple(known[start : start + _CHUNK]) for start in range(0, len(known), _CHUNK)]
