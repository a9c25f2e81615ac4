"""Lists that come in pages and state their length."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.errors import PayloadError, Permanent

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


def collected(
    ask: Callable[[int], Page], what: str, *, most_pages: int, first: Page | None = None
) -> list[dict[str, Any]]:
    """Rows of all pages, from page 1. A list that ends before its own count, whose count moves, or that is
    longer than `most_pages` is a PayloadError. `first`: page 1, where it was asked already."""
    page = ask(1) if first is None else first
    rows, received, total = list(page.rows), page.received, page.total
    size = page.received
    for number in range(2, most_pages + 1):
        if (total != UNTOLD and received >= total) or not size:
            break
        page = ask(number)
        if page.total != total:
            raise PayloadError(f"{what}: count moved from {total} to {page.total}")
        rows += page.rows
        received += page.received
        ended = total == UNTOLD and page.received < size
        size = 0 if ended else page.received
    if total == UNTOLD and size:
        raise PayloadError(f"{what}: {received} rows and no end")
    if total not in {UNTOLD, received}:
        raise PayloadError(f"{what}: {received} of {total} rows")
    return rows


def whole_number(value: Any, what: str) -> int:
    """The count that a list states."""
    if type(value) is not int or value < 0:
        raise PayloadError(f"{what} is no count: {value!r:.40}")
    return value
