"""Workbooks of the index provider: members, weights at the end of a month, ratios of some twenty dates."""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import iso_day, number
from resources.upstreams.parsing.xls import book_rows, table_of

MEMBER_COLUMNS: dict[str, str] = {**texts("as_of_date index_name code name"), **numbers("weight_pct")}
RATIO_COLUMNS: dict[str, str] = {**texts("date"), **numbers("pe dividend_yield")}
"""`pe` and `dividend_yield` (percent) by total shares."""
_FOLDER = "/static/html/csindex/public/uploads/file/autofile"
_MEMBER = {
    "date": "日期",
    "index": "指数代码",
    "index_name": "指数名称",
    "code": "成分券代码",
    "name": "成分券名称",
}
_RATIO = {
    "date": "日期",
    "index": "指数代码",
    "pe": "市盈率1",
    "dividend_yield": "股息率1",
}
_ROUNDING = 1.0
"""Percent points by which the weights of an index may miss 100."""


def sheet_request(kind: str, index: str) -> Request:
    """`kind` cons, closeweight or indicator; `index` six digits."""
    path = f"{_FOLDER}/{kind}/{index}{kind}.xls"
    return Request("csindex.files", kind, path, label=index)


def parse_members(body: bytes, index: str, *, weighted: bool) -> pd.DataFrame:
    """Columns `MEMBER_COLUMNS`, all of one date. PayloadError for another index, a duplicate member, several
    dates, or weights that do not make 100."""
    what = f"{'weights' if weighted else 'members'} {index}"
    requested = {**_MEMBER, "weight": "权重"} if weighted else _MEMBER
    made: list[dict[str, Any]] = []
    for row in table_of(book_rows(body, what), requested, what):
        _of(row["index"], index, what)
        weight = number(row["weight"], f"{what} weight") if weighted else float("nan")
        if weight < 0 or weight > 100:
            raise PayloadError(f"{what}: a weight of {weight}")
        made.append(
            {
                "as_of_date": iso_day(row["date"], f"{what} date"),
                "index_name": row["index_name"] or None,
                "code": _six(row["code"], what),
                "name": row["name"] or None,
                "weight_pct": weight,
            }
        )
    rows = frame(made, MEMBER_COLUMNS)
    if not made:
        raise PayloadError(f"{what}: no member")
    if rows["code"].duplicated().any() or rows["as_of_date"].nunique() != 1:
        raise PayloadError(f"{what}: a member twice, or several dates")
    if weighted and not abs(rows["weight_pct"].sum() - 100) <= _ROUNDING:
        raise PayloadError(f"{what}: the weights make {rows['weight_pct'].sum():.2f}")
    return rows


def parse_ratios(body: bytes, index: str) -> pd.DataFrame:
    """Columns `RATIO_COLUMNS`, oldest date first."""
    what = f"ratios {index}"
    made = []
    for row in table_of(book_rows(body, what), _RATIO, what):
        _of(row["index"], index, what)
        made.append(
            {
                "date": iso_day(row["date"], f"{what} date"),
                "pe": number(row["pe"], f"{what} 市盈率1"),
                "dividend_yield": number(row["dividend_yield"], f"{what} 股息率1"),
            }
        )
    rows = frame(made, RATIO_COLUMNS)
    if rows["date"].duplicated().any():
        raise PayloadError(f"{what}: a date came twice")
    return rows.sort_values("date").reset_index(drop=True)


def _of(stated: str, index: str, what: str) -> None:
    if stated.zfill(6) != index:
        raise PayloadError(f"{what}: {stated[:20]!r} instead of {index}")


def _six(text: str, what: str) -> str:
    """Six digits: a number in its cell has lost leading zeros."""
    code = text.zfill(6)
    if len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what}: {text[:20]!r} is no code")
    return code
