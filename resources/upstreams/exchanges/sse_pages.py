"""The common form of answers of query.sse.com.cn: pages with a total number of rows."""

from typing import Any

from core.errors import PayloadError
from resources.upstreams.parsing.payload import json_of, list_of, object_of

PAGE = 5000


def page_params(page: int) -> tuple[tuple[str, str], ...]:
    return (
        ("isPagination", "true"),
        ("pageHelp.pageSize", str(PAGE)),
        ("pageHelp.pageNo", str(page)),
        ("pageHelp.beginPage", str(page)),
        ("pageHelp.endPage", str(page)),
        ("pageHelp.cacheSize", "1"),
    )


def parse_rows(body: bytes, what: str) -> tuple[list[dict[str, Any]], int]:
    """(rows of the page, rows of all pages)."""
    document = object_of(json_of(body), what)
    if document.get("actionErrors"):
        raise PayloadError(f"{what}: {str(document['actionErrors'])[:80]}")
    paging = object_of(document.get("pageHelp"), f"{what} pageHelp")
    raw = list_of(document.get("result"), f"{what} result")
    total = paging.get("total")
    if type(total) is not int or not len(raw) <= total:
        raise PayloadError(f"{what}: {len(raw)} rows of {total!r}")
    return [object_of(row, f"{what} row") for row in raw], total
