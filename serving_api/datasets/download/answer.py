"""The response of a download, put together from the results per type and code. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from serving_api.datasets.download.types import NOT_BUILT

Part = dict[str, Any]
NO_ROWS = "the upstream answered and has no rows of {code}"
_COUNTS = ("total", "saved", "gap_count")


def failed_part(message: str) -> Part:
    return {"status": "failed", **dict.fromkeys(_COUNTS, 0), "message": message}


def missing_part(name: str) -> Part:
    return failed_part(NOT_BUILT.format(name=name))


def parts_of(code: str, types: Mapping[str, Any]) -> dict[str, Part]:
    """The results of one code, from the command's result of every type."""
    parts = {}
    for name, reported in types.items():
        counts = reported.get("codes", {}).get(code)
        if reported["status"] == "success" and counts:
            said = reported.get("message") or NO_ROWS.format(code=code)
            none = {} if counts["total"] and not reported.get("incomplete") else {"message": said}
            parts[name] = {"status": "success", **counts, **none}
        else:
            part = failed_part(reported.get("message") or f"no source has rows of {code}")
            parts[name] = {**part, **(counts or {})}
    return parts


def whole(
    details: Mapping[str, Any], parts: Iterable[Part], fusion: Any, *, message: str | None = None
) -> dict[str, Any]:
    """The response: success when at least one result succeeded, with the failed ones named."""
    every = list(parts)
    good = [part for part in every if part["status"] == "success"]
    if message is None and len(good) < len(every):
        reported = dict.fromkeys(str(part["message"]) for part in every if part["status"] == "failed")
        message = f"{len(every) - len(good)} of {len(every)} parts failed: " + "; ".join(list(reported)[:5])
    return {
        "status": "success" if good else "failed",
        **{name: sum(part[name] for part in every) for name in _COUNTS},
        "details": details,
        "fusion": fusion,
        "fox_fusion": fusion,
        **({} if message is None else {"message": message}),
    }


def failed(message: str) -> dict[str, Any]:
    """The response when nothing succeeded."""
    return whole({}, [], None, message=message)


def fusion_of(reported: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """{status, batch_id, results{type: {status, saved}}} of the command's fusion."""
    if reported is None:
        return None
    results = {
        name: {key: part[key] for key in ("status", "saved", "message") if key in part}
        for name, part in reported["results"].items()
    }
    return {"status": reported["status"], "batch_id": reported.get("batch_id"), "results": results}


def market_part(reported: Mapping[str, Any]) -> Part:
    """The result of a type without codes."""
    part = {"status": reported["status"], **{name: reported[name] for name in _COUNTS}}
    return part if reported["status"] == "success" else {**part, "message": reported["message"]}


def details_of(
    codes: Sequence[str], types: Mapping[str, Any], missing: Sequence[str]
) -> dict[str, dict[str, Part]]:
    """Code -> type -> result."""
    return {
        code: {**parts_of(code, types), **{name: missing_part(name) for name in missing}} for code in codes
    }
