"""Notices of listed companies: the columns that every source of them answers in."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.texts import plain_text, without_name

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
    """Columns `NOTICE_COLUMNS`, of stocks only. PayloadError when one notice came twice for one code: rows
    drifted between pages, so others are missing."""
    made = frame([row for row in rows if row["code"] is not None], NOTICE_COLUMNS)
    if made.duplicated(subset=["ann_id", "code"]).any():
        raise PayloadError(f"{what}: a notice came on two pages")
    return made
