"""Rows of the ledgers as records: each value is read as the field in its place is typed."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

_READ: Mapping[type, Callable[[Any], Any]] = {
    datetime: lambda value: datetime.fromisoformat(str(value)),
    tuple: lambda text: tuple(json.loads(text)),
    dict: json.loads,
}


@cache
def _fields(cls: Any) -> list[tuple[str, Callable[[Any], Any], Callable[[], Any]]]:
    """(field, how its value is read, what it is where the column is null: None if it may be, its default, or
    the empty value of its type)."""
    hints = get_type_hints(cls)
    found = []
    for field in fields(cls):
        choices = get_args(hints[field.name])
        optional = NoneType in choices
        kind = next(one for one in choices if one is not NoneType) if optional else hints[field.name]
        kind = get_origin(kind) or kind
        null: Callable[[], Any] = kind
        if optional or field.default is not MISSING:
            null = partial(_same, None if optional else field.default)
        found.append((field.name, _READ.get(kind, kind), null))
    return found


def _same(value: Any) -> Any:
    return value


def record(cls: Callable[..., Record], row: Sequence[Any]) -> Record:
    """A row whose columns are the fields of a dataclass, in their order."""
    values = {}
    for (name, read, null), value in zip(_fields(cls), row, strict=True):
        values[name] = null() if value is None else read(value)
    return cls(**values)
