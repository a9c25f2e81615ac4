"""The response envelope: which paths carry it, and the one function that builds it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.clock import local_iso

PREFIX = "/api/v1"
DISCLAIMER = "数据仅供研究参考，不构成投资建议"
SCHEMA_VERSION = 1

_ENVELOPED = (f"{PREFIX}/datamgr/", f"{PREFIX}/stocks/")
_PLAIN = frozenset({f"{PREFIX}/datamgr/stock-base/list", f"{PREFIX}/datamgr/tasks/runs"})
_LIFTED = ("items", "results", "data")
_COUNTS = ("total", "count")


def is_enveloped(path: str) -> bool:
    """Whether a 2xx JSON answer of this path is wrapped."""
    return path.startswith(_ENVELOPED) and path not in _PLAIN


def instant(stored: str | datetime | None) -> str | None:
    """A stored local time as ISO 8601 with its offset."""
    if stored is None:
        return None
    return local_iso(stored if isinstance(stored, datetime) else datetime.fromisoformat(stored))


def wrap(payload: Any, *, query_time: str, top: Mapping[str, Any] | None = None) -> Any:
    """`payload` in the envelope. Pure.

    The first of `items`, `results`, `data` becomes `results` and the other keys stay at top level; any
    other payload is `results` as a whole. `total` (else `count`) of an object, or the length of a list,
    becomes `stats.total`. A payload that holds `ok` passes through. `top` adds top-level keys.
    """
    if isinstance(payload, Mapping) and "ok" in payload:
        return payload
    results: Any = payload
    rest: dict[str, Any] = {}
    stats: dict[str, int] = {}
    if isinstance(payload, Mapping):
        lifted = next((key for key in _LIFTED if key in payload), None)
        if lifted is not None:
            results = payload[lifted]
            rest = {key: value for key, value in payload.items() if key != lifted}
        counted = next((payload[key] for key in _COUNTS if _is_count(payload.get(key))), None)
        if counted is not None:
            stats["total"] = counted
    elif isinstance(payload, (list, tuple)):
        stats["total"] = len(payload)
    return {
        **rest,
        **(top or {}),
        "ok": True,
        "schema_version": SCHEMA_VERSION,
        "query_time": query_time,
        "results": results,
        "stats": stats,
        "disclaimer": DISCLAIMER,
    }


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
