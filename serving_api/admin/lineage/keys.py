"""The natural key of a row from the query parameters of a request."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from core.declaration.columns import ColumnSpec
from core.declaration.tables import Table
from core.errors import InputError

OWN = frozenset({"column", "payload", "as_of"})
"""Query parameters of the route itself."""
MAX_VALUE = 512
_MAX_INT = 2**63 - 1
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")


def read_key(table: Table, parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Column -> value for every column of the key, in its order. Raises InputError that names a column
    which is missing, unknown, given twice or malformed."""
    shape = f"the key of {table.name} is {', '.join(table.key)}"
    given: dict[str, str] = {}
    for name, value in parameters:
        if name in OWN:
            continue
        if name not in table.key:
            raise InputError(name[:64], f"is no key column; {shape}")
        if name in given:
            raise InputError(name, f"is given twice; {shape}")
        given[name] = value
    missing = next((name for name in table.key if not given.get(name, "").strip()), None)
    if missing is not None:
        raise InputError(missing, f"is missing; {shape}")
    return {name: _value(table.column(name), given[name].strip()) for name in table.key}


def _value(spec: ColumnSpec, text: str) -> Any:
    """`text` in the form in which the column stores it."""
    if len(text) > MAX_VALUE or "\x00" in text:
        raise InputError(spec.name, f"is longer than {MAX_VALUE} characters or holds a zero byte")
    try:
        match spec.family:
            case "date":
                if not _DAY.fullmatch(text):
                    raise InputError(spec.name, f"{text[:40]!r} is no date; give YYYY-MM-DD")
                return date.fromisoformat(text).isoformat()
            case "time":
                return str(datetime.fromisoformat(text).replace(tzinfo=None))
            case "int":
                number = int(text)
                if abs(number) > _MAX_INT:
                    raise InputError(spec.name, "is too large")
                return number
            case "bool":
                return int(text.lower() in {"1", "true"})
            case "float":
                return float(text)
            case _:
                return text
    except ValueError:
        raise InputError(spec.name, f"{text[:40]!r} is no {spec.family}") from None
