"""Answers of the classification's site: JSON with bare NaN, `code` "200", lists in pages."""

import json
from typing import Any

from core.errors import PayloadError
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import list_of, object_of, string_of, text_of


def data_of(body: bytes, what: str) -> Any:
    """The `data` behind code 200. A bare NaN (or Infinity) is nothing."""
    text = text_of(body, "utf-8")
    try:
        document = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"{what}: damaged JSON ({str(error)[:80]})") from error
    found = object_of(document, what)
    if str(found.get("code")) != "200":
        raise PayloadError(f"{what}: code {found.get('code')!r} {str(found.get('message'))[:60]}")
    return found.get("data")


def page_of(body: bytes, what: str, size: int) -> Page:
    """The rows of one page of a list that states its `count`."""
    data = object_of(data_of(body, what), f"{what} data")
    total = whole_number(data.get("count"), f"{what} count")
    rows = [object_of(row, f"{what} row") for row in list_of(data.get("results"), f"{what} results")]
    if len(rows) > min(total, size):
        raise PayloadError(f"{what}: {len(rows)} of {total} rows")
    return Page(rows, len(rows), total)


def index_code(value: Any, what: str) -> str:
    """Six digits that begin with 80 or 85."""
    code = string_of(value, f"{what} index code").strip()
    if len(code) != 6 or not code.isascii() or not code.isdigit() or code[:2] not in {"80", "85"}:
        raise PayloadError(f"{what}: {code[:20]!r} is no index of the classification")
    return code
