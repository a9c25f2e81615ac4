"""The first stored date of a table, of a code in it, or of rows with given values."""

from resources.warehouse.stored import Where
from serving_api.db.sessions import Session

_DATES = {"decision_card": "decision_date", "stock_analysis": "date"}
"""Tables whose keys are no dates -> the date that reads are by."""


def first_date(session: Session, name: str, *where: Where) -> str | None:
    """The first date that a table by date holds, of the rows that meet the conditions."""
    if not session.has(name):
        return None
    table = session.table(name)
    column = table.date_column or _DATES.get(name)
    if column is None:
        return None
    first = session.first(name, column, *where, order=[column])
    return None if first is None else first[:10]
