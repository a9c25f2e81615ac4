"""Whether an answer holds data."""

from collections.abc import Collection, Mapping
from typing import Any

LISTS = ("results", "items", "data", "rows")
"""Keys of the part of an answer that holds its data, when it has one."""
_FRAME = frozenset(
    {
        "ok", "schema_version", "query_time", "disclaimer", "stats", "page_info", "data_availability",
        "total", "page", "pageSize", "page_size", "note", "source", "limit", "days",
    }
)  # fmt: skip


def holds_data(answer: Any, echoed: Collection[str] = ()) -> bool:
    """Whether an answer holds data: its data part is a text or a number other than 0, or a list with a
    value; of an object, whose texts may be labels, a number or a list counts. `echoed` are names of
    parameters, which an answer repeats."""
    if isinstance(answer, Mapping):
        for name in LISTS:
            if name in answer:
                data = answer[name]
                return holds_data(data, echoed) if isinstance(data, Mapping) else _holds(data)
        return any(
            holds_data(value, echoed) for name, value in answer.items() if name not in _FRAME.union(echoed)
        )
    return _holds(answer) and not isinstance(answer, str)


def _holds(value: Any) -> bool:
    """Whether there is any value: in lists texts count as well."""
    if isinstance(value, Mapping):
        return any(_holds(one) for one in value.values())
    if isinstance(value, list):
        return any(_holds(one) for one in value)
    return bool(value)
