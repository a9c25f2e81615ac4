"""The model of a stored row for the document, made from the table's declaration."""

from functools import cache
from typing import Any

from pydantic import BaseModel, Field, create_model

from core.declaration.columns import ColumnSpec
from core.declaration.registry import builtin_registry

_TYPES: dict[str, Any] = {
    "text": str, "float": float, "int": int, "bool": bool, "date": str, "time": str, "json": object,
}  # fmt: skip
_UNITS = {"wan": "10k CNY", "wan_sh": "10k shares", "yi": "100m CNY", "pct": "percent", "sh": "shares"}


@cache
def row_model(table: str) -> type[BaseModel]:
    """The model of a row of a declared table in a response."""
    declared = next(one for one in builtin_registry().tables if one.name == table)
    fields = {spec.name: _field(spec) for spec in declared.columns}
    label = "".join(part.capitalize() for part in table.split("_"))
    made: type[BaseModel] = create_model(f"{label}Row", **fields)
    return made


def _field(spec: ColumnSpec) -> Any:
    unit = _UNITS.get(spec.unit, spec.unit)
    text = ", ".join(part for part in (spec.title, unit) if part)
    kind = _TYPES[spec.family]
    return (kind if not spec.nullable else kind | None, Field(description=text or None))
