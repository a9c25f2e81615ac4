"""Whether an answer says anything."""

from collections.abc import Collection, Mapping
from typing import Any

LISTS = ("results", "items", "data", "rows")
"""The part of an answer that its data stand in, where it has one."""
_FRAME = frozenset(
    {
        "ok", "schema_version", "query_time", "disclaimer", "stats", "page_info", "data_availability",
        "total", "page", "pageSize", "page_size", "note", "source", "limit", "days",
    }
)  # fmt: skip


def tells(answer: Any, echoed: Collection[str] = ()) -> bool:
    """Whether an answer holds data: its data part a text or a number other than 0, a list an element with
    one; of an object, whose texts may be labels, a number or a list. `echoed` are names of parameters, which
    an answer repeats."""
    if isinstance(answer, Mapping):
        for name in LISTS:
            if name in answer:
                data = answer[name]
                return tells(data, echoed) if isinstance(data, Mapping) else _holds(data)
        return any(tells(value, echoed) for name, value in answer.items() if name not in _FRAME.union(echoed))
    return _holds(answer) and not isinstance(answer, str)


def _holds(value: Any) -> bool:
    """Whether there is a value at all: of what a list holds texts count as well."""
    if isinstance(value, Mapping):
        return any(_holds(one) for one in value.values())
    if isinstance(value, list):
        return any(_holds(one) for one in value)
    return bool(value)
