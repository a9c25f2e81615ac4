"""Rows of the ledgers as records: each value is read as the field in its place is typed."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

_READ: Mapping[type, Callable[[Any], Any]] = {
    datetime: lambda value: datetime.fromisoformat(str(value)),
    tuple: lambda text: tuple(json.loads(text)),
    dict: json.loads,
}


@cache
def _fields(cls: Any) -> list[tuple[str, Any, Any]]:
    """(field, its type, its value where the column is null: None or its default; the type: what is empty)."""
    hints = get_type_hints(cls)
    found = []
    for field in fields(cls):
        choices = get_args(hints[field.name])
        kind = next(
            (one for one in choices if NoneType in choices and one is not NoneType), hints[field.name]
        )
        kind = get_origin(kind) or kind
        empty = None if NoneType in choices else field.default if field.default is not MISSING else kind
        found.append((field.name, kind, empty))
    return found


def record(cls: Callable[..., Record], row: Sequence[Any]) -> Record:
    """A row whose columns are the fields of a dataclass, in their order."""
    return cls(
        **{
            name: _READ.get(kind, kind)(value) if value is not None else kind() if empty is kind else empty
            for (name, kind, empty), value in zip(_fields(cls), row, strict=True)
        }
    )
