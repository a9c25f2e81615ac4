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
    first = session.first(name, column, of or {"code?": code}, order=column)
    return None if first is None else first[:10]
