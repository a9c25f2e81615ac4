"""The first stored date of a table, of a code in it, or of rows with given values."""

from serving_api.db.sessions import Of, Session

_DATES = {"decision_card": "decision_date", "stock_analysis": "date"}
"""Tables whose keys are no dates -> the date that reads are by."""


def first_date(session: Session, name: str, code: str | None = None, of: Of | None = None) -> str | None:
    """The first date that a table by date holds; of a `code`, or of the rows `of` some values, where they are
    given."""
    if not session.has(name):
        return None
    table = session.table(name)
    column = table.date_column or _DATES.get(name)
    if column is None:
        return None
    rows = session.rows(name, of or {"code": code}, columns=(column,), order=column, limit=1)
    return str(rows[0][0])[:10] if rows else None
