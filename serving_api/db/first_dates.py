"""The first stored date of a table, of a code in it, or of rows with given values."""

from collections.abc import Mapping, Sequence

from serving_api.db.sessions import Session, matching

_DATES = {"decision_card": "decision_date", "stock_analysis": "date"}
"""Tables whose keys are no dates -> the date that reads are by."""
Of = Mapping[str, str | Sequence[str]]
"""Column -> the value, or one of the values, that rows hold in it."""


def first_date(session: Session, name: str, code: str | None = None, of: Of | None = None) -> str | None:
    """The first date that a table by date holds; of a `code`, or of the rows `of` some values, where they are
    given."""
    if not session.has(name):
        return None
    table = session.table(name)
    column = table.date_column or _DATES.get(name)
    if column is None:
        return None
    wanted = of or ({} if code is None else {"code": code})
    conditions = [(f"{key}=?" if isinstance(one, str) else f"{key} IN", one) for key, one in wanted.items()]
    first = session.first(name, column, **matching(*conditions), order=column)
    return None if first is None else first[:10]
