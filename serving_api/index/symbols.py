"""Codes of indices, as clients write them and as they are stored."""

import re

from core.errors import InputError

_PREFIXED = re.compile(r"(?:sh|sz|bj)[0-9]{6}")
_DIGITS = re.compile(r"[0-9]{6}")
_INDUSTRY = ("80", "85")


def symbol_of(text: str, parameter: str = "symbol") -> str:
    """The code under which an index is stored. Raises InputError for anything else."""
    known = text.strip().lower()
    if _PREFIXED.fullmatch(known):
        return known
    if not _DIGITS.fullmatch(known):
        raise InputError(parameter, f"{text[:20]!r} is no index; sh000300, 000300 or 801780 are allowed")
    if known.startswith(_INDUSTRY):
        return known
    return f"sz{known}" if known.startswith("399") else f"sh{known}"
