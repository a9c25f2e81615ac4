"""Texts of the press and of disclosure as they may be stored: plain, bounded, never markup to be trusted."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from core.errors import PayloadError
from core.text_keys import plain_form
from resources.rejections import once_each
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import string_of

LONGEST = 16_000
"""Characters of a long text that are stored: what MariaDB's TEXT holds at four bytes each."""
LONGEST_ADDRESS = 512
_MARKS = re.compile(r"</?em(?:\s[^<>]{0,80})?>", re.IGNORECASE)
_CODES = re.compile(r"(?<![0-9A-Za-z])[0-9]{6}(?![0-9A-Za-z])")
_FOREIGN = ("200", "900")  # B shares


def plain_text(value: Any, what: str, most: int = LONGEST) -> str:
    """Text without the marks of a search hit, control characters and outer blanks, cut at `most`. Other
    tags stay: they are characters of the text, to be escaped where it is shown."""
    text = _MARKS.sub("", string_of(value, what)[: 4 * most])
    kept = [" " if unicodedata.category(one) in {"Cc", "Zs", "Zl", "Zp"} else one for one in text
            if unicodedata.category(one) not in {"Cs", "Cf"}]  # fmt: skip
    return re.sub(" {2,}", " ", "".join(kept)).strip()[:most]


def web_address(value: Any) -> str | None:
    """An http(s) address, or None for anything else in its place."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ADDRESS:
        return None
    text = value.strip()
    if any(one.isspace() or not one.isprintable() or one in "<>\"'`\\" for one in text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return text if parts.scheme in {"http", "https"} and parts.hostname else None


def without_name(title: str, names: Sequence[str]) -> str:
    """A title without the short name and colon that one source sets before it and another does not."""
    head, colon, rest = title.replace("：", ":", 1).partition(":")
    known = {plain_form(name) for name in names if name}
    if colon and rest.strip() and plain_form(head) in known:
        return title[len(head) + 1 :].strip()
    return title


def stock_codes(text: str) -> list[str]:
    """The six-digit codes in a text, once each, without B shares."""
    return [code for code in dict.fromkeys(_CODES.findall(text)) if not code.startswith(_FOREIGN)]


# -- Notices of listed companies: the columns that every source of them answers in.

NOTICE_COLUMNS: dict[str, str] = {
    **texts("ann_id code title pub_date pub_time ann_type url pdf_url"),
    **numbers("size_kb"),
}
"""`pub_date` disclosure date; `pub_time` the time of publication, where the source has one; `size_kb` of the
PDF."""
_LONGEST_TITLE = 2_000


def title_of(value: Any, names: Sequence[str], what: str) -> str:
    """A title, plain, without the company's short name before it. A title beyond any belief is left long,
    so that its own row is rejected and not the whole list."""
    title = without_name(plain_text(value, what, _LONGEST_TITLE), names)
    if not title:
        raise PayloadError(f"{what} is empty")
    return title


def within(day: str, since: str, until: str, what: str) -> str:
    """`day`, when it is one of those that were asked for."""
    if not since <= day <= until:
        raise PayloadError(f"{what} is of {day}, asked was {since}..{until}")
    return day


def notice_frame(rows: Sequence[dict[str, Any]], what: str) -> pd.DataFrame:
    """Columns `NOTICE_COLUMNS`, of stocks only, each notice once for a code. PayloadError when more than
    single ones came again: rows drifted between pages, so others are missing."""
    made = frame([row for row in rows if row["code"] is not None], NOTICE_COLUMNS)
    return once_each(made, ["ann_id", "code"], what)
