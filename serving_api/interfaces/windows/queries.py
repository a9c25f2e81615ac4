"""SQL over windows of dates."""

from collections.abc import Sequence
from typing import Any

from core.declaration.tables import Table
from serving_api.db.sessions import Session

MASTER = "fusion_stock_master"


def flow_sums(
    session: Session, table: Table, columns: Sequence[str], since: str, until: str, as_of: str | None
) -> dict[str, dict[str, float | None]]:
    """Code -> the sum of each column between two dates; None when no date has a value."""
    rows = session.rows(
        table.name,
        columns=("code", *columns),
        where="date>=? AND date<=?",
        values=(since, until),
        as_of=as_of,
    )
    sums: dict[str, dict[str, float | None]] = {}
    for code, *values in rows:
        reported = sums.setdefault(code, dict.fromkeys(columns))
        for column, value in zip(columns, values, strict=True):
            if value is not None:
                reported[column] = round((reported[column] or 0.0) + value, 2)
    return sums


def names(session: Session, codes: Sequence[str]) -> dict[str, str]:
    """Code -> current name."""
    if not codes:
        return {}
    marks = ", ".join("?" for _ in codes)
    return dict(
        session.rows(MASTER, columns=("code", "name"), where=f"code IN ({marks})", values=tuple(codes))
    )


def indices(session: Session, table: Table, scope: str) -> list[dict[str, Any]]:
    rows = session.run(
        f"SELECT code, MAX(name), MIN(date), MAX(date) FROM {session.sql.name(table.name)} "
        "WHERE scope=? GROUP BY code ORDER BY code",
        (scope,),
    )
    return [
        {"code": code, "name": name, "scope": scope, "first_date": str(first), "latest_date": str(last)}
        for code, name, first, last in rows
    ]
