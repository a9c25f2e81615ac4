"""Codes that were replaced by others: what is known of them before any source is asked.

The shipped table has the six announced changes of Beijing of May 2025 and single ones of Shanghai and
Shenzhen. Beijing's rule is 920 and the last three digits, which go up by a hundred until they are free: the
new code cannot be told from the old one alone, so the others come from the disclosure site's ids.
"""

import csv
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources as files

from core import data

BEIJING_SINCE = "2025-10-09"
"""Day from which all of Beijing's codes begin with 920; six companies changed in May 2025."""
BEIJING = ("43", "83", "87")
"""What its codes began with before."""


@dataclass(frozen=True)
class CodeChange:
    """`date`: first trade date of the new code, None where it is not known."""

    code: str
    new_code: str
    date: str | None


@cache
def known_changes() -> tuple[CodeChange, ...]:
    """The changes of the shipped table."""
    text = files.files(data).joinpath("renumbered_codes_cn.csv").read_text(encoding="utf-8")
    return tuple(
        CodeChange(row["code"], row["new_code"], row["date"] or None)
        for row in csv.DictReader(text.splitlines())
    )


def is_replaced_number(code: str, day: str) -> bool:
    """Whether no security of Beijing has a code of this range on a day any more."""
    return len(code) == 6 and code.startswith(BEIJING) and day >= BEIJING_SINCE


class Renumbering:
    """The changes up to a day, and the codes of Beijing's former range that are held under themselves (None:
    it is not known which)."""

    def __init__(self, changes: Iterable[CodeChange], held: Collection[str] | None, day: str) -> None:
        self._changes = {one.code: one for one in changes}
        self._held = held
        self._day = day

    def of(self, code: str) -> CodeChange | None:
        """The change from a former code to the one of today; None where the code is not a former one. Raises
        ValueError for a replaced number of which nothing else is known."""
        change = self._changes.get(code)
        if change is None:
            if self._held is not None and code not in self._held and is_replaced_number(code, self._day):
                raise ValueError(
                    f"{code} is of a range that Beijing replaced by 920xxx on {BEIJING_SINCE}, and which "
                    "code followed it is not known; give the code of today"
                )
            return None
        passed = {code}
        while change.new_code in self._changes and change.new_code not in passed:
            passed.add(change.new_code)
            change = self._changes[change.new_code]
        return CodeChange(code, change.new_code, change.date)
