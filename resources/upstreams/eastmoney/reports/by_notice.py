"""What reports that are asked by the day of a notice have in common: their clauses, and the readers of
codes and of days that may be missing."""

from collections.abc import Sequence
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.gateway import among, on_day
from resources.upstreams.parsing.payload import iso_day, string_of


def notice_clauses(
    column: str, since: str | None, until: str, codes: Sequence[str] | None = None
) -> tuple[str, ...]:
    """`column` in [since, until] (None: no first day), of all securities or of some."""
    first = () if since is None else (on_day(column, since, ">="),)
    some = () if codes is None else (among("SECURITY_CODE", codes),)
    return (*some, *first, on_day(column, until, "<="))


def security_code(value: Any, what: str) -> str:
    """Six digits."""
    code = string_of(value, f"{what} code")
    if len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what} code {code[:20]!r}")
    return code


def day_or_none(value: Any, what: str) -> str | None:
    """The day of `YYYY-MM-DD 00:00:00`; None where there is none yet."""
    if value is None or value == "":
        return None
    return iso_day(string_of(value, what)[:10], what)


def text_or_none(value: Any, what: str) -> str | None:
    """A text without surrounding blanks; None where there is none."""
    if value is None:
        return None
    return string_of(value, what).strip() or None
