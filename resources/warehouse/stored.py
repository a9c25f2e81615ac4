"""Stored tables by name, and their columns in SQL: `BARS = stored("fusion_kline_daily", KlineDaily)`, then
`BARS.c.close > 0` is a condition and `BARS.c.date.desc()` an order.

A column belongs to no table: a condition holds for the current rows and for the history alike.
"""

from collections.abc import Collection, Mapping
from typing import Any, Generic, TypeVar, overload

import sqlalchemy as sa

Where = sa.ColumnElement[bool]
Order = sa.ColumnElement[Any]


class Columns:
    """Columns by name: `columns.close`, or `columns[name]` where the name is chosen at run time."""

    def __getattr__(self, name: str) -> sa.ColumnClause[Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        column: sa.ColumnClause[Any] = sa.column(name)
        self.__dict__[name] = column
        return column

    __getitem__ = __getattr__


ANY = Columns()
"""Columns of a table that is chosen at run time."""
C = TypeVar("C")
M = TypeVar("M")


class Stored(str, Generic[C]):
    """The name of a stored table; `c` are its columns."""

    c: C


@overload
def stored(name: str) -> Stored[Columns]: ...


@overload
def stored(name: str, model: type[M]) -> Stored[type[M]]: ...


def stored(name: str, model: object = None) -> Stored[Any]:
    """A table by its name; the columns are those of its `model`, where it has one, as mypy and a rename see
    them."""
    table: Stored[Any] = Stored(name)
    table.c = Columns()
    return table


def select(table: str, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """A SELECT of columns, or of what is calculated from them, over the current rows of a table."""
    return sa.select().add_columns(*columns).select_from(sa.table(table))


def delete(table: str, *where: Where) -> sa.Delete:
    """A DELETE of the rows that meet the conditions."""
    return sa.delete(sa.table(table)).where(*where)


def update(table: str, row: Mapping[str, object], *where: Where) -> sa.Update:
    """An UPDATE of columns, to values or to what is calculated from the row, in their order."""
    target = sa.table(table, *map(sa.column, row))
    return sa.update(target).ordered_values(*row.items()).where(*where)


def within(
    column: sa.ColumnElement[Any], since: str | float | None, until: str | float | None
) -> list[Where]:
    """Values between two bounds, either of which may be None."""
    return [*([] if since is None else [column >= since]), *([] if until is None else [column <= until])]


def matching(column: sa.ColumnElement[Any], value: str | float | Collection[str] | None) -> list[Where]:
    """A value, or one of several; any where it is None."""
    if value is None:
        return []
    return [column == value if isinstance(value, str | int | float) else column.in_(value)]
