"""The section 公司概况 of the terminal's company text: a box of labels and values, then numbered parts.

The main business is a part of its own in some texts and a row of the box in others, where a long value goes
on in the next row below an empty label.
"""

import re

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.payload import iso_day
from resources.upstreams.parsing.texts import plain_text

SECTION = "公司概况"
PROFILE_COLUMNS = texts("code full_name province list_date main_business")
_CELLS = re.compile(r"│([^\r\n]*)")
_BUSINESS = re.compile(r"【\d+\.主营业务】[ 　]*([^\r\n【]+)")
_HEAD = re.compile(r"◇[ 　]*(\d{6})[ 　]")
_NOTHING = {"", "-", "--", "暂无"}


def parse_profile(text: str, symbol: str) -> pd.DataFrame:
    """At most one row, columns `PROFILE_COLUMNS`; none where the company has no such section. PayloadError
    for the text of another company."""
    if not text.strip():
        return frame([], PROFILE_COLUMNS)
    head = _HEAD.search(text)
    if head is None or head.group(1) != symbol[2:]:
        raise PayloadError(f"profile {symbol}: a text of {head.group(1) if head else 'nobody'}", source="tdx")
    fields = _fields(text)
    business = _BUSINESS.search(text)
    listed = _value(fields.get("上市日期"), 32)
    row = {
        "code": symbol[2:],
        "full_name": _value(fields.get("公司名称"), 128),
        "province": _value(fields.get("所属地域"), 32),
        "list_date": None if listed is None else iso_day(listed, f"profile {symbol} 上市日期"),
        "main_business": _value(business.group(1) if business else fields.get("主营业务"), 16_000),
    }
    return frame([row], PROFILE_COLUMNS)


def _fields(text: str) -> dict[str, str]:
    """Label -> value; the rows of the box hold one pair or two."""
    fields: dict[str, str] = {}
    last = ""
    for line in _CELLS.findall(text):
        cells = [cell.strip(" 　") for cell in line.split("│")]
        for label, value in zip(cells[::2], cells[1::2], strict=False):
            if 2 <= len(label) <= 20:
                last = label
                fields.setdefault(label, value)
            elif not label and last and value:
                fields[last] += value
    return fields


def _value(text: str | None, most: int) -> str | None:
    kept = None if text is None else plain_text(text, SECTION, most)
    return None if kept in _NOTHING else kept
