"""Models of stored rows, whose fields come from the declaration of a table, and of lists of rows."""

from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field, create_model

from core.declaration.columns import ColumnSpec
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.records import split_word
from resources.warehouse.system_tables import SYSTEM_TABLES

_TYPES: dict[str, Any] = {
    "text": str, "float": float, "int": int, "bool": bool, "date": str, "time": str, "json": object,
}  # fmt: skip
_UNITS = {"wan": "10k CNY", "wan_sh": "10k shares", "yi": "100m CNY", "pct": "percent", "sh": "shares"}

Model = TypeVar("Model", bound=BaseModel)
Row = TypeVar("Row")


class Rows(BaseModel, Generic[Row]):
    """The rows of an answer, and how many there are."""

    items: list[Row]
    total: int


class PageOf(Rows[Row], Generic[Row]):
    """One page of the rows."""

    total: int = Field(description="rows of all pages")
    page: int
    page_size: int


@cache
def _tables() -> dict[str, Table]:
    return {table.name: table for table in (*builtin_registry().tables, *SYSTEM_TABLES)}


@cache
def row_model(table: str, columns: str = "") -> type[BaseModel]:
    """The model of a row of a declared table: of all its columns, or of `columns` (see `columns_of`)."""
    declared = _tables()[table]
    fields = {}
    for word in columns.split() or [spec.name for spec in declared.columns]:
        key, column = split_word(word)
        spec = declared.column(column)
        nullable = spec.nullable and spec.name not in declared.key
        nullable = word.endswith(("?", "*")) or (nullable and not word.endswith("!"))
        fields[key] = _field(spec, nullable, None if word.endswith("*") else ...)
    label = "".join(part.capitalize() for part in table.split("_"))
    made: type[BaseModel] = create_model(f"{label}Row", **fields)
    return made


def columns_of(table: str, columns: str = "") -> Callable[[type[Model]], type[Model]]:
    """A class decorator: `columns` of a declared table (default: all) become fields of a response, before its
    own.

    The columns are separated by blanks: `rzye` as declared, `date=trade_date` under the name `date`,
    `close!` never null in the answer, `close?` null there at times, `close*` missing as well. A
    field that the class writes out wins.
    """

    def extend(model: type[Model]) -> type[Model]:
        bases: Any = (model, row_model(table, columns))
        made: type[Model] = create_model(
            model.__name__, __base__=bases, __doc__=model.__doc__, __module__=model.__module__
        )
        return made

    return extend


def _field(spec: ColumnSpec, nullable: bool, default: Any) -> Any:
    unit = _UNITS.get(spec.unit, spec.unit)
    text = ", ".join(part for part in (spec.title, unit) if part)
    kind = _TYPES[spec.family]
    return (kind | None if nullable else kind, Field(default, description=text or None))
