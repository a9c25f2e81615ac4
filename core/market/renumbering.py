"""Codes that were replaced by others: what is known of them before any source is asked.

The shipped table has the 248 changes of Beijing in 2025 and single ones of Shanghai and Shenzhen. Each of the
248 is a company of one name in two public lists, of June 2024 and of March 2026, and follows the exchange's
rule: 920 and the last three digits, which go up by a hundred until they are free. So the new code cannot be
told from the old one alone.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources as files

BEIJING_SINCE = "2025-10-09"
"""Day from which all of Beijing's codes begin with 920; six companies changed in May 2025."""
_BEIJING = ("43", "83", "87", "88")


@dataclass(frozen=True)
class CodeChange:
    """`date`: first trade date of the new code, None where it is not known."""

    code: str
    new_code: str
    date: str | None


@cache
def known_changes() -> tuple[CodeChange, ...]:
    """The changes of the shipped table."""
    text = files.files("core").joinpath("data/renumbered_codes_cn.csv").read_text(encoding="utf-8")
    return tuple(
        CodeChange(row["code"], row["new_code"], row["date"] or None)
        for row in csv.DictReader(text.splitlines())
    )


def is_replaced_number(code: str, day: str) -> bool:
    """Whether no security of Beijing has a code of this range on a day any more."""
    return len(code) == 6 and code.startswith(_BEIJING) and day >= BEIJING_SINCE
