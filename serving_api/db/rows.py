"""SQL of the interfaces: one read per kind of request, over any declared table.

Rows are dictionaries of the table's own columns and `quality`, without the other audit columns; JSON
columns are parsed. `as_of` is the bound instant, or None for the current rows.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import orjson

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.text_keys import search_key
from serving_api.db.sessions import Of, Session, code_clauses

Row = dict[str, Any]
WHOLE_MARKET = 20_000
"""More rows than a table has of one date."""
NO_FILTER: Mapping[str, str] = {}
INDUSTRY_COLUMNS = ("sw_l1", "sw_l1_name", "sw_l2", "sw_l2_name", "em_industry", "industry")
"""Columns of a row that identify its industry."""
_LOOK_BACK = timedelta(days=60)
"""A table that is written on trade dates has a row within this span before any instant."""
_LOOK_BACK_PERIODS = timedelta(days=400)
"""At any instant the newest published report period ended at most this long before."""


def public_columns(table: Table) -> list[str]:
    """Columns of a table that responses show."""
    names = [spec.name for spec in table.columns]
    return [*names, "quality"] if table.has_history else names


def number_columns(table: Table) -> list[str]:
    """Columns that can be compared with a number."""
    return [spec.name for spec in table.columns if spec.family in ("float", "int")]


def code_column(table: Table) -> str:
    """The column of the key that identifies the subject of the row."""
    if "code" in table.key:
        return "code"
    named = [name for name in table.key if name.endswith("_code")]
    return (
        named[0] if named else next((name for name in table.key if name != table.date_column), table.key[0])
    )


def public_rows(
    session: Session, name: str, columns: Sequence[str] | None = None, of: Of | None = None, **how: Any
) -> list[Row]:
    """Rows of a table as responses show them; none for a table that is not declared."""
    if not session.has(name):
        return []
    table = session.table(name)
    requested = list(columns or public_columns(table))
    parsed = {spec.name for spec in table.columns if spec.family == "json"} & set(requested)
    rows = session.dicts(name, of, columns=requested, **how)
    for row in rows:
        for column in parsed:
            row[column] = orjson.loads(row[column]) if row[column] else None
    return rows


def newest(session: Session, table: Table, code: str, as_of: str | None, **how: Any) -> Row | None:
    """The newest row of a code (the only one, when the code is the key). When several sources have one,
    the row of the best source."""
    order = f"{table.date_column} DESC" if table.date_column else ""
    if not order and table.key == ("code", "src"):
        found = public_rows(session, table.name, of={"code": code}, as_of=as_of, **how)
        rank = {source.name: at for at, source in enumerate(builtin_registry().raws[table.name].sources)}
        return min(found, key=lambda row: rank.get(str(row["src"]), len(rank)), default=None)
    of = {code_column(table): code}
    found = public_rows(session, table.name, of=of, as_of=as_of, order=order, limit=1, **how)
    return found[0] if found else None


def newest_of_codes(
    session: Session, table: Table, codes: Sequence[str], as_of: str | None, columns: Sequence[str]
) -> list[Row]:
    """The newest row of each code that has one, in the order of `codes`."""
    if len(table.key) > 1:
        found = [newest(session, table, code, as_of, columns=columns) for code in codes]
        return [row for row in found if row is not None]
    rows: dict[str, Row] = {}
    for where, some in code_clauses(codes, table.key[0]):
        read = public_rows(session, table.name, columns, where=where, values=some, as_of=as_of)
        rows |= {row[table.key[0]]: row for row in read}
    return [rows[code] for code in codes if code in rows]


def in_range(
    session: Session,
    table: Table,
    code: str,
    *,
    since: str | None = None,
    until: str | None = None,
    limit: int,
    as_of: str | None,
    also: str = "",
    equal: Mapping[str, str] = NO_FILTER,
    columns: Sequence[str] | None = None,
) -> list[Row]:
    """The newest `limit` rows of a code between two dates with the values of `equal`, newest first."""
    of = {code_column(table): code, **equal, **between(table, since, until)}
    order = newest_first(table)
    return public_rows(session, table.name, columns, of, where=also, as_of=as_of, order=order, limit=limit)


def between(table: Table, since: str | None, until: str | None) -> dict[str, str | None]:
    """The rows of a table from one date to another, either of which may be None."""
    return {f"{table.date_column}>=?": since, f"{table.date_column}<=?": until}


def newest_first(table: Table) -> str:
    """The order of a table's rows by date, rows of one date by the rest of the key."""
    rest = [f"{column} DESC" for column in table.key if column != table.date_column]
    return ", ".join([f"{table.date_column} DESC", *rest])


def newest_date(session: Session, table: Table, as_of: str | None) -> str | None:
    """The newest date that the table holds."""
    day, since = str(table.date_column), None
    if as_of is not None:
        back = _LOOK_BACK_PERIODS if day == "report_period" else _LOOK_BACK
        since = (date.fromisoformat(as_of[:10]) - back).isoformat()
    return session.first(table.name, day, {f"{day}>=?": since}, as_of=as_of, order=f"{day} DESC")


def newest_of(session: Session, table: str, as_of: str | None = None) -> str | None:
    """The newest date of a table; None also where there is no such table."""
    return newest_date(session, session.table(table), as_of) if session.has(table) else None


def on_date(
    session: Session,
    table: Table,
    day: str,
    *,
    sort: str | None = None,
    limit: int = WHOLE_MARKET,
    offset: int = 0,
    as_of: str | None = None,
    columns: Sequence[str] | None = None,
    also: Sequence[tuple[str, str, Any]] = (),
    industry: str | None = None,
) -> list[Row]:
    """Rows of one date, by a column (`-` = descending) or by key; missing values come last. `also` are
    further conditions (column, sign, value); `industry` is the code or name of one, of any level."""
    keys = [column for column in table.key if column != table.date_column]
    order = ", ".join(keys)
    if sort:
        column, way = sort.lstrip("-"), "DESC" if sort.startswith("-") else "ASC"
        order = f"{column} IS NULL, {column} {way}, {order}"
        columns = None if columns is None else list(dict.fromkeys([*columns, column]))
    # Conditions may repeat a column and its sign.
    conditions = [(table.date_column, "=", day), *also]
    levels = [] if industry is None else [name for name in INDUSTRY_COLUMNS if name in table.names]
    within = [f"({' OR '.join(f'{name}=?' for name in levels)})"] if levels else []
    where = " AND ".join([*(f"{name}{sign}?" for name, sign, _ in conditions), *within])
    values = (*(value for _, _, value in conditions), *(industry for _ in levels))
    return public_rows(
        session, table.name, columns, where=where, values=values, as_of=as_of, order=order, limit=limit,
        offset=offset,
    )  # fmt: skip


_KINDS = ("ann_type", "category", "news_type")
_WRITTEN_WIDE = {
    **dict.fromkeys((" ", "\u3000"), ""),
    **{chr(ord(sign) + 0xFEE0): sign for sign in "()%:,.;+-&/0123456789"},
}
"""Full-width characters and blanks in titles -> their form for comparison in a search."""


def _comparable(column: str) -> str:
    """SQL that normalises a text as `search_key` does, for the characters that titles contain: no engine
    supports NFKC."""
    text = f"LOWER({column})"
    for wide, plain in _WRITTEN_WIDE.items():
        text = f"REPLACE({text}, '{wide}', '{plain}')"
    return text


def headlines(
    session: Session,
    table: Table,
    *,
    code: str | None = None,
    since: str | None = None,
    until: str | None = None,
    kind: str | None = None,
    keyword: str | None = None,
    limit: int,
    offset: int = 0,
    as_of: str | None = None,
    columns: Sequence[str] | None = None,
) -> list[Row]:
    """Rows with a day or time and a title, newest first. `kind`: a value of one of the table's kind
    columns; `keyword`: a word in the title; `columns`: instead of those that responses show."""
    day = str(table.date_column)
    names = {spec.name for spec in table.columns}
    last = f"{until} 23:59:59" if until is not None and table.timed else until
    of = {"code?": code, **between(table, since, last)}
    where: list[str] = []
    values: list[str] = []
    if kind is not None:
        kinds = [name for name in _KINDS if name in names]
        where.append(f"({' OR '.join(f'{name}=?' for name in kinds)})")
        values += [kind] * len(kinds)
    if keyword is not None:
        where.append(f"INSTR({_comparable('title')}, ?)>0")
        values.append(search_key(keyword))
    time = ["pub_time DESC"] if "pub_time" in names - {day} else []
    order = [f"{day} DESC", *time, *(column for column in table.key if column not in (day, "src"))]
    return public_rows(
        session, table.name, columns, of, where=" AND ".join(where), values=values, as_of=as_of,
        order=", ".join(order), limit=limit, offset=offset,
    )  # fmt: skip
