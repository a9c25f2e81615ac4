"""Rows of an uploaded table as holdings. Pure."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from serving_api.db.request_notes import current_security
from serving_api.framework.error_responses import BadRequest

HEADERS: Mapping[str, tuple[str, ...]] = {
    "code": ("代码", "证券代码", "股票代码", "code"),
    "name": ("名称", "证券名称", "股票名称", "name"),
    "shares": ("持股", "持仓", "数量", "shares"),
    "cost_price": ("成本", "成本价", "cost"),
    "note": ("备注", "note"),
}
"""Column of the table -> its accepted headings."""
HEAD_ROWS = 20
"""First rows in which the headings are searched."""
MOST_SHARES = 1e12
MOST_COST = 1e6
"""CNY; a cost may be negative when realised gains exceed the purchase price."""
_DIGITS = re.compile(r"\A([0-9]{1,6})(?:\.0)?\Z")
_NUMBER = re.compile(r"\A[+-]?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:E[+-]?[0-9]{1,3})?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """Why a row was left out; `row` counts from 1 as the sheet does."""

    row: int
    reason: str


@dataclass
class Holdings:
    """Valid rows, each with the columns that the file has, and the skipped rows."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def holdings(rows: Sequence[Sequence[str]]) -> Holdings:
    """Holdings of a table with a heading row. Raises BadRequest when no column holds codes."""
    headings = ((at, _places(row)) for at, row in enumerate(rows[:HEAD_ROWS], start=1))
    head, places = next(((at, places) for at, places in headings if "code" in places), (0, {}))
    if not places:
        raise BadRequest(f"file: no code column; one of {', '.join(HEADERS['code'])} is needed")
    found = Holdings(tuple(places))
    seen: dict[str, int] = {}
    for number, row in enumerate(rows[head:], start=head + 1):
        if not any(row):
            continue
        try:
            entry = {
                name: _READ[name](row[place] if place < len(row) else "") for name, place in places.items()
            }
        except ValueError as error:
            found.problems.append(Problem(number, str(error)))
            continue
        first = seen.setdefault(entry["code"], number)
        if first == number:
            found.rows.append(entry)
        else:
            found.problems.append(Problem(number, f"code: {entry['code']} is already in row {first}"))
    return found


def _places(row: Sequence[str]) -> dict[str, int]:
    """Column -> its position, for the columns that this heading row names; of two equal ones the first."""
    titles = [title.strip().lower() for title in row]
    return {
        name: min(titles.index(word) for word in words if word in titles)
        for name, words in HEADERS.items()
        if any(word in titles for word in words)
    }


def _code(text: str) -> str:
    """Six digits of a code in any notation; a number that lost its leading zeros gets them back, `="600519"`
    becomes its digits."""
    bare = text.removeprefix("=").strip("\"' \t")
    digits = _DIGITS.match(bare)
    try:
        return current_security(digits.group(1).zfill(6) if digits else bare)
    except ValueError as problem:
        raise ValueError(f"code: {problem}") from None


def _number(name: str, low: float, high: float, digits: int) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        bare = text.replace(",", "").replace("，", "")
        if bare in {"", "-", "--"}:
            return None
        if not _NUMBER.match(bare):
            raise ValueError(f"{name}: {text[:32]!r} is no number")
        value = float(bare)
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"{name}: {text[:32]} is out of range; {low:g}..{high:g} are allowed")
        return round(value, digits)

    return read


def _words(name: str, length: int) -> Callable[[str], str | None]:
    def read(text: str) -> str | None:
        words = " ".join(text.split())
        if words.startswith("="):
            raise ValueError(f"{name}: is a formula; give its value")
        if not words.isprintable():
            raise ValueError(f"{name}: holds control characters")
        if len(words) > length:
            raise ValueError(f"{name}: {len(words)} characters; {length} are allowed")
        return words or None

    return read


_READ: Mapping[str, Callable[[str], Any]] = {
    "code": _code,
    "name": _words("name", 64),
    "shares": _number("shares", 0, MOST_SHARES, 4),
    "cost_price": _number("cost", -MOST_COST, MOST_COST, 4),
    "note": _words("note", 255),
}
