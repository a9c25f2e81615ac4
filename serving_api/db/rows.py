"""SQL of the interfaces: one read per kind of request, over any declared table.

Rows are dictionaries of the table's own columns and `quality`, without the other audit columns; JSON
columns are parsed. `as_of` is the bound instant, or None for the current rows.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Unpack

import orjson
import sqlalchemy as sa

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.text_keys import search_key
from resources.warehouse.reads import Selection
from resources.warehouse.stored import ANY, Order, Where, matching, within
from serving_api.db.sessions import Session, parts_of

Row = dict[str, Any]
WHOLE_MARKET = 20_000
"""More rows than a table has of one date."""
INDUSTRY_COLUMNS = ("sw_l1", "sw_l1_name", "sw_l2", "sw_l2_name", "em_industry", "industry")
"""Columns of a row that identify its industry."""
TRADED = ANY.is_suspended.is_(None) | (ANY.is_suspended == 0)
"""Bars of days on which the security was traded."""
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


def public_rows(session: Session, name: str, *where: Where, **how: Unpack[Selection]) -> list[Row]:
    """Rows of a table as responses show them; none for a table that is not declared."""
    if not session.has(name):
        return []
    table = session.table(name)
    requested = list(how.get("columns") or public_columns(table))
    parsed = {spec.name for spec in table.columns if spec.family == "json"} & set(requested)
    part: Selection = {**how, "columns": requested}
    rows = session.dicts(name, *where, **part)
    for row in rows:
        for column in parsed:
            row[column] = orjson.loads(row[column]) if row[column] else None
    return rows


def newest(
    session: Session, table: Table, code: str, as_of: str | None, columns: Sequence[str] | None = None
) -> Row | None:
    """The newest row of a code (the only one, when the code is the key). When several sources have one,
    the row of the best source."""
    order = [ANY[table.date_column].desc()] if table.date_column else []
    own = ANY[code_column(table)] == code
    if not order and table.key == ("code", "src"):
        found = public_rows(session, table.name, own, as_of=as_of, columns=columns)
        rank = {source.name: at for at, source in enumerate(builtin_registry().raws[table.name].sources)}
        return min(found, key=lambda row: rank.get(str(row["src"]), len(rank)), default=None)
    found = public_rows(session, table.name, own, as_of=as_of, columns=columns, order=order, limit=1)
    return found[0] if found else None


def newest_of_codes(
    session: Session, table: Table, codes: Sequence[str], as_of: str | None, columns: Sequence[str]
) -> list[Row]:
    """The newest row of each code that has one, in the order of `codes`."""
    if len(table.key) > 1:
        found = [newest(session, table, code, as_of, columns) for code in codes]
        return [row for row in found if row is not None]
    rows: dict[str, Row] = {}
    key = table.key[0]
    for part in parts_of(codes):
        read = public_rows(session, table.name, ANY[key].in_(part), columns=columns, as_of=as_of)
        rows |= {row[key]: row for row in read}
    return [rows[code] for code in codes if code in rows]


def in_range(
    session: Session,
    table: Table,
    code: str,
    *also: Where,
    since: str | None = None,
    until: str | None = None,
    limit: int,
    as_of: str | None,
    columns: Sequence[str] | None = None,
) -> list[Row]:
    """The newest `limit` rows of a code between two dates that meet the conditions, newest first."""
    of = [ANY[code_column(table)] == code, *between(table, since, until), *also]
    return public_rows(
        session, table.name, *of, columns=columns, as_of=as_of, order=newest_first(table), limit=limit
    )


def between(table: Table, since: str | None, until: str | None) -> list[Where]:
    """The rows of a table from one date to another, either of which may be None."""
    return within(ANY[str(table.date_column)], since, until)


def newest_first(table: Table) -> list[Order]:
    """The order of a table's rows by date, rows of one date by the rest of the key."""
    names = dict.fromkeys([str(table.date_column), *table.key])
    return [ANY[name].desc() for name in names]


def newest_date(session: Session, table: Table, as_of: str | None) -> str | None:
    """The newest date that the table holds."""
    day, since = str(table.date_column), None
    if as_of is not None:
        back = _LOOK_BACK_PERIODS if day == "report_period" else _LOOK_BACK
        since = (date.fromisoformat(as_of[:10]) - back).isoformat()
    column = ANY[day]
    return session.first(table.name, day, *within(column, since, None), as_of=as_of, order=[column.desc()])


def newest_of(session: Session, table: str, as_of: str | None = None) -> str | None:
    """The newest date of a table; None also where there is no such table."""
    return newest_date(session, session.table(table), as_of) if session.has(table) else None


def on_date(
    session: Session,
    table: Table,
    day: str,
    *also: Where,
    sort: str | None = None,
    limit: int = WHOLE_MARKET,
    offset: int = 0,
    as_of: str | None = None,
    columns: Sequence[str] | None = None,
    industry: str | None = None,
) -> list[Row]:
    """Rows of one date, by a column (`-` = descending) or by key; missing values come last. `also` are
    further conditions; `industry` is the code or name of one, of any level."""
    order: list[Order] = [ANY[column] for column in table.key if column != table.date_column]
    if sort:
        column = ANY[sort.lstrip("-")]
        order[:0] = [column.is_(None), column.desc() if sort.startswith("-") else column]
        columns = None if columns is None else list(dict.fromkeys([*columns, column.name]))
    where = [ANY[str(table.date_column)] == day, *also]
    levels = [] if industry is None else [name for name in INDUSTRY_COLUMNS if name in table.names]
    if levels:
        where.append(sa.or_(*(ANY[name] == industry for name in levels)))
    return public_rows(
        session, table.name, *where, columns=columns, as_of=as_of, order=order, limit=limit, offset=offset
    )


_KINDS = ("ann_type", "category", "news_type")
_WRITTEN_WIDE = {
    **dict.fromkeys((" ", "\u3000"), ""),
    **{chr(ord(sign) + 0xFEE0): sign for sign in "()%:,.;+-&/0123456789"},
}
"""Full-width characters and blanks in titles -> their form for comparison in a search."""


def _comparable(column: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    """SQL that normalises a text as `search_key` does, for the characters that titles contain: no engine
    supports NFKC."""
    text: sa.ColumnElement[str] = sa.func.lower(column)
    for wide, plain in _WRITTEN_WIDE.items():
        text = sa.func.replace(text, wide, plain)
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
    where = [*matching(ANY.code, code), *between(table, since, last)]
    if kind is not None:
        where.append(sa.or_(*(ANY[name] == kind for name in _KINDS if name in names)))
    if keyword is not None:
        where.append(sa.func.instr(_comparable(ANY.title), search_key(keyword)) > 0)
    time = [ANY.pub_time.desc()] if "pub_time" in names - {day} else []
    rest = [ANY[column] for column in table.key if column not in (day, "src")]
    order = [ANY[day].desc(), *time, *rest]
    return public_rows(
        session, table.name, *where, columns=columns, as_of=as_of, order=order, limit=limit, offset=offset
    )
