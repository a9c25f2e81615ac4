"""SQL of lineage: versions of a row, staged and RAW rows of a key, responses of a batch.

Identifiers come from declarations, values are bound.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from core.declaration.tables import Table
from resources.warehouse.sql import marks
from serving_api.admin.lineage.bodies import whole_word
from serving_api.db.sessions import Session

FETCH = "sys_fetch"
_CHUNK = 200
_FETCH_COLUMNS = (
    "fetch_id batch_id upstream call_name request codes_or_page http_status outcome byte_count sha256 "
    "body_path received_at"
).split()
_FED = "outcome='ok'"
"""Only a response with rows can have contributed to a stored value."""


def _match(session: Session, key: Mapping[str, Any]) -> str:
    return " AND ".join(f"{session.sql.name(name)}=?" for name in key)


def current(session: Session, table: Table, key: Mapping[str, Any]) -> dict[str, Any] | None:
    found = session.dicts(table.name, where=_match(session, key), values=tuple(key.values()))
    return found[0] if found else None


def superseded(session: Session, table: Table, key: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the history, oldest first, with `valid_to` and `superseded_by`."""
    names = (*table.names, "valid_to", "superseded_by")
    rows = session.run(
        f"SELECT {session.sql.names(names)} FROM {session.sql.name(table.history_name)} "
        f"WHERE {_match(session, key)} ORDER BY valid_from, valid_to",
        tuple(key.values()),
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def rows_of(
    session: Session, table: Table, key: Mapping[str, Any], sources: Sequence[str], limit: int
) -> list[dict[str, Any]]:
    """Rows matching the columns of `key` that the table has, of some sources (none = all), newest first."""
    requested = {name: value for name, value in key.items() if name in table.names}
    if not requested:
        return []
    where, values = _match(session, requested), list(requested.values())
    if sources:
        where += f" AND src IN ({marks(sources)})"
        values += sources
    return session.dicts(table.name, where=where, values=tuple(values), order="imported_at DESC", limit=limit)


def rows_until(
    session: Session, table: Table, code: str, day: str | None, limit: int
) -> list[dict[str, Any]]:
    """Rows of a code on the newest date that is not after `day`; of a table without dates, all its rows."""
    column = table.date_column
    if column is None or day is None:
        return session.dicts(table.name, {"code": code}, limit=limit)
    of = {"code": code, f"{column}<=": day}
    newest = session.rows(table.name, of, columns=(column,), order=f"{column} DESC", limit=1)
    if not newest:
        return []
    return session.dicts(table.name, {"code": code, column: newest[0][0]}, limit=limit)


def pattern(session: Session, pattern_id: int) -> str | None:
    """The JSON of a provenance pattern."""
    found = session.dicts("sys_provenance", where="id=?", values=(pattern_id,))
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
            where = f"{column} IN ({marks(chunk)}) AND {_FED}"
            values: list[Any] = [*chunk]
            if upstreams:
                where += f" AND upstream IN ({marks(upstreams)})"
                values += upstreams
            if naming is not None:
                where += " AND (INSTR(request, ?) > 0 OR INSTR(codes_or_page, ?) > 0)"
                values += [naming, naming]
            how: dict[str, Any] = {"where": where, "values": values, "order": "received_at, fetch_id"}
            rows = session.dicts(FETCH, columns=_FETCH_COLUMNS, limit=limit, **how)
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
