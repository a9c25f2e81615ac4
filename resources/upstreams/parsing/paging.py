"""Lists that come in pages and state their length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.errors import PayloadError, Permanent
from resources.rejections import once_each

# -- Sites that keep a file per day: no file is an answer.


def no_file(error: Permanent) -> bool:
    """Whether the site said that there is no such file, and nothing else."""
    return error.message.endswith("HTTP 404")


UNTOLD = -1
"""The total of a list that states none: it ends with the first page that is shorter than the one before."""


@dataclass(frozen=True)
class Page:
    """Rows of one page. `received`: rows on the wire, of which some may give none or several of our rows;
    `total`: rows of the whole list by its own count, `UNTOLD` where it states none. Length 0 = truly no
    rows."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    received: int = 0
    total: int = 0

    def __len__(self) -> int:
        return self.received


def pages_joined(parts: Sequence[pd.DataFrame], key: Sequence[str], what: str) -> pd.DataFrame:
    """Pages below each other, each row once (no `key`: equal rows are ordinary). A row may come again in its
    page, or at the beginning of the next. PayloadError for one of an earlier page, and for more than single
    ones: rows drifted between pages, so others are missing."""
    rows = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    if not key or not rows.duplicated(list(key)).any():
        return rows
    keys = [list(part[list(key)].itertuples(index=False, name=None)) for part in parts]
    _within_pages(keys, what)
    return once_each(rows, key, what)


def _within_pages(pages: Sequence[Sequence[Any]], what: str) -> None:
    """PayloadError when a key of an earlier page comes again, other than over the edge of two pages."""
    earlier: set[Any] = set()
    last: Any = None
    for keys in pages:
        drifted = [one for at, one in enumerate(keys) if one in earlier and not (at == 0 and one == last)]
        if drifted:
            raise PayloadError(f"{what}: {drifted[0]} came twice, on two pages")
        earlier |= set(keys)
        last = keys[-1] if keys else last


def _key_of(row: Any, key: Sequence[str]) -> Any:
    """The values of the key; what no other row has, where it is no object."""
    return tuple(row.get(name) for name in key) if isinstance(row, dict) else object()


def collected(
    ask: Callable[[int], Page],
    what: str,
    *,
    most_pages: int,
    first: Page | None = None,
    key: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Rows of all pages, from page 1. A list that ends before its own count, whose count moves, or that is
    longer than `most_pages` is a PayloadError; so is a row whose `key` was on an earlier page. `first`: page
    1, where it was asked already."""
    page = ask(1) if first is None else first
    rows, received, total = list(page.rows), page.received, page.total
    pages = [page.rows]
    size = page.received
    for number in range(2, most_pages + 1):
        if (total != UNTOLD and received >= total) or not size:
            break
        page = ask(number)
        if page.total != total:
            raise PayloadError(f"{what}: count moved from {total} to {page.total}")
        rows += page.rows
        pages.append(page.rows)
        received += page.received
        ended = total == UNTOLD and page.received < size
        size = 0 if ended else page.received
    if total == UNTOLD and size:
        raise PayloadError(f"{what}: {received} rows and no end")
    if total not in {UNTOLD, received}:
        raise PayloadError(f"{what}: {received} of {total} rows")
    if key:
        _within_pages([[_key_of(row, key) for row in part] for part in pages], what)
    return rows


def whole_number(value: Any, what: str) -> int:
    """The count that a list states."""
    if type(value) is not int or value < 0:
        raise PayloadError(f"{what} is no count: {value!r:.40}")
    return value
