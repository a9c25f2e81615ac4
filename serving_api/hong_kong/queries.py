"""SQL of the Hong Kong reads. Every function takes a Session first; RAW tables keep no versions."""

from serving_api.db.first_dates import first_date
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

TABLE = "raw_hk_finance"
_ALL = 1000


def periods(session: Session, code: str, limit: int) -> list[Row]:
    """The newest report periods of a company, newest first."""
    return public_rows(
        session, TABLE, where="code=?", values=(code,), order="report_period DESC", limit=limit
    )


def statements(session: Session, code: str, statement: str) -> list[Row]:
    """{report_period, items} of every period that holds a statement, newest first."""
    rows = public_rows(
        session,
        TABLE,
        ["report_period", "items"],
        where="code=?",
        values=(code,),
        order="report_period DESC",
        limit=_ALL,
    )
    return [
        {"report_period": row["report_period"], "items": row["items"][statement]}
        for row in rows
        if (row["items"] or {}).get(statement)
    ]


def first_period(session: Session, code: str, statement: str | None) -> str | None:
    """The first stored report period of a company; of a `statement` where one is given."""
    if statement is None:
        return first_date(session, TABLE, code)
    rows = statements(session, code, statement)
    return str(rows[-1]["report_period"]) if rows else None
