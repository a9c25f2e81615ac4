"""Models of stored rows, whose fields come from the columns of a declared table, and of lists of rows."""

from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from core.declaration.columns import Column, model_columns
from core.declaration.columns import Model as Table
from serving_api.framework.envelope import instant
from serving_api.framework.openapi import IsoDate, IsoTime

_TYPES: dict[str, Any] = {
    "text": str, "float": float, "int": int, "bool": bool, "date": IsoDate, "time": str, "json": object,
}  # fmt: skip
_UNITS = {"wan": "10k CNY", "wan_sh": "10k shares", "yi": "100m CNY", "pct": "percent", "sh": "shares"}

Model = TypeVar("Model", bound=BaseModel)
Row = TypeVar("Row")
Instant = Annotated[IsoTime | None, BeforeValidator(instant)]
"""A stored local time, in a response as ISO 8601 with its offset."""


class StoredRow(BaseModel):
    """A response that `model_validate` reads from a stored row or a record: a field with a `validation_alias`
    has that name there."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


class Rows(BaseModel, Generic[Row]):
    """The rows of an answer, and how many there are."""

    items: list[Row]
    total: int


class PageOf(Rows[Row], Generic[Row]):
    """One page of the rows."""

    total: int = Field(description="rows of all pages")
    page: int
    page_size: int


def columns(table: type[Table]) -> tuple[Column, ...]:
    """All columns of a declared table."""
    return tuple(getattr(table, spec.name) for spec in model_columns(table))


def with_columns(*columns: Column) -> Callable[[type[Model]], type[Model]]:
    """A class decorator: columns of declared tables, as `Margin.rzye`, become fields of a response, before
    its own, with their types, units and titles; `model_validate` reads them from a stored row. A field that
    the class writes out wins."""

    def extend(model: type[Model]) -> type[Model]:
        fields = {column.key: _field(column) for column in columns}
        bases: Any = (model, create_model("Row", __base__=StoredRow, **fields))
        response: type[Model] = create_model(
            model.__name__, __base__=bases, __doc__=model.__doc__, __module__=model.__module__
        )
        return response

    return extend


def _field(column: Column) -> Any:
    spec = column.spec
    text = ", ".join(part for part in (spec.title, _UNITS.get(spec.unit, spec.unit)) if part)
    kind = _TYPES[spec.family]
    is_null = spec.nullable if column.is_null is None else column.is_null
    default = ... if column.is_required else None
    stored = None if column.key == column else str(column)
    return (
        kind | None if is_null else kind,
        Field(
            default,
            description=text or None,
            validation_alias=stored,
            json_schema_extra={"x-unit": _UNITS.get(spec.unit, spec.unit)} if spec.unit else None,
        ),
    )
