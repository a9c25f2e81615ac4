"""SQL over the master table."""

from collections.abc import Mapping

from platform_assets.declaration.tables import Table
from serving_api.catalog.queries import Row, public_rows
from serving_api.reading import Session


def matching(
    session: Session,
    table: Table,
    equal: Mapping[str, str],
    keyword: str | None,
    limit: int,
    offset: int,
    as_of: str | None,
) -> list[Row]:
    """Rows that hold the values of `equal`, and a keyword in code or name, by code."""
    where, values = [f"{column}=?" for column in equal], list(equal.values())
    if keyword is not None:
        # Codes are ASCII; MariaDB does not look for other letters in such a column.
        places = ["name", *(["code"] if keyword.isascii() else [])]
        where.append(f"({' OR '.join(f'INSTR({place}, ?)>0' for place in places)})")
        values += [keyword for _ in places]
    return public_rows(
        session,
        table.name,
        where=" AND ".join(where),
        values=tuple(values),
        as_of=as_of,
        order="code",
        limit=limit,
        offset=offset,
    )


def special_treatment(session: Session, table: Table, limit: int, as_of: str | None) -> list[Row]:
    return public_rows(
        session,
        table.name,
        where="is_st=1 AND (list_status IS NULL OR list_status<>'D')",
        as_of=as_of,
        order="code",
        limit=limit,
    )


def listed_between(
    session: Session, table: Table, since: str, until: str, limit: int, as_of: str | None
) -> list[Row]:
    """Stocks with a first day in (since, until], the newest first."""
    return public_rows(
        session,
        table.name,
        where="sec_type='stock' AND list_date>? AND list_date<=?",
        values=(since, until),
        as_of=as_of,
        order="list_date DESC, code",
        limit=limit,
    )
