"""Names of securities: what a shown name says about its state. Names of industries."""

import re
import unicodedata
from functools import lru_cache
from typing import Any

import pandas as pd

_PREFIX = re.compile(r"^(XD|XR|DR|N|C)(?=[^A-Za-z]|S?\*?ST)")
_ST = re.compile(r"^S?\*?ST", re.IGNORECASE)
"""Lists of former names spell the mark in small letters too."""
_LEVEL = re.compile(r"[ⅠⅡⅢ]+$")


def plain_name(shown: str) -> str:
    """The name without the one-day prefixes N, C, XD, XR, DR and without inner blanks."""
    text = unicodedata.normalize("NFKC", shown).replace(" ", "")
    return _PREFIX.sub("", text)


def is_st(shown: str) -> bool:
    """Whether a shown name carries the special-treatment mark (ST, *ST, SST, S*ST)."""
    return bool(_ST.match(plain_name(shown)))


def special(state: Any, name: str | None) -> bool | None:
    """Whether a stock is under special treatment on a date. `state` comes from the history of names (bool, 0
    or 1; None, NaN or NA outside its range, where the name quoted on the date decides). None without
    either."""
    if not pd.isna(state):
        return bool(state)
    return is_st(name) if name else None


def is_delisting(shown: str) -> bool:
    """Whether a shown name is that of the delisting period or of a delisted security."""
    text = plain_name(shown)
    return text.startswith("退市") or text.endswith(("退", "(退)"))


@lru_cache(maxsize=1024)
def plain_industry(name: str) -> str:
    """The name of an industry without the mark of its level (IT服务Ⅱ)."""
    return _LEVEL.sub("", name.strip())
